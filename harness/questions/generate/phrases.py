"""Turns of phrase by which a question gives itself away: that it talks of its passage, or that it obeys one."""

from __future__ import annotations

import re

_NOUN = r"(?:passage|excerpt|snippet|text|document|article|paragraph|section|page|context|abstract|extract|quote|study|paper|source|information)s?"
_STRONG = r"(?:passage|excerpt|snippet|extract)s?"
_GIVEN = (
    r"(?:given|provided|following|above|below|supplied|quoted|preceding|previous|present|above-mentioned)"
)
_DE = r"(?:text|textes|abschnitt|abschnitts|auszug|auszugs|dokument|dokuments|absatz|absatzes|artikel|artikels|passage|textstelle)"
_FR = r"(?:texte|passage|document|extrait|paragraphe|article)"
_ES = r"(?:texto|pasaje|documento|fragmento|párrafo|artículo|extracto|passagem|trecho|parágrafo|artigo|testo|brano|documento|paragrafo|articolo)"

_MENTIONS = (
    rf"\b(?:the|this|that|these|those)\s+(?:{_GIVEN}\s+)?{_STRONG}\b",
    rf"\b(?:the|this|that)\s+{_GIVEN}\s+{_NOUN}\b",
    rf"\b(?:in|from|within|by|of|per|does|do|did|is|are|under)\s+th(?:is|ese)\s+{_NOUN}\b",
    rf"\b(?:according\s+to|based\s+on|as\s+per|as\s+stated\s+in)\s+(?:the|this|these)\s+{_NOUN}\b",
    rf"\b(?:described|mentioned|stated|listed|given|provided|discussed|presented|noted|referred\s+to|specified|outlined)\s+(?:in|by)\s+(?:the|this|these)\s+(?:(?:two|both)\s+)?{_NOUN}\b",
    r"\b(?:does|do|did)\s+(?:the|this)\s+(?:text|article|author|authors|context|abstract)s?\s+(?:say|state|mention|describe|claim|suggest|argue|explain|report|discuss)",
    r"\b(?:mentioned|described|stated|listed|given)\s+(?:above|below|here)\b",
    rf"\b(?:laut|gemäß|nach)\s+(?:dem|diesem|der|dieser)\s+{_DE}\b|\b(?:in|aus)\s+(?:diesem|dieser|dem\s+(?:obigen|vorliegenden|folgenden))\s+{_DE}\b|\bim\s+(?:obigen|vorliegenden|folgenden)\s+{_DE}\b",
    rf"\b(?:selon|d['’]après|dans|suivant)\s+(?:le|la|ce|cet|cette|l['’])\s*(?:présent\s+)?{_FR}\b",
    rf"\b(?:según|segundo|secondo|de\s+acuerdo\s+con)\s+(?:el|este|o|il|questo|lo)\s+{_ES}\b|\b(?:en\s+este|neste|in\s+questo|no\s+presente)\s+{_ES}\b",
    r"\bсогласно\s+(?:этому\s+|данному\s+)?(?:тексту|отрывку|документу|абзацу|статье)|\bв\s+(?:этом|данном)\s+(?:тексте|отрывке|документе|абзаце)",
    r"(?:根据|按照|依据|依照)(?:本文|上文|该文|文中|文章|文本|上述|以上|这段|该段|此段|本段|文档|段落|所给)|(?:这段|该段|此段|本段|上述|以上)(?:话|文字|文本|文章|内容|段落|资料)|本文|文中(?:提到|所述|指出)",
    r"(?:この|上記の|次の|本)(?:文章|文書|テキスト|段落|一節|記事|抜粋)|本文",
    r"(?:이|위|다음|해당|주어진)\s*(?:글|지문|문서|본문|단락|텍스트|구절)(?:에|의|을|를|은|는|이)",
    r"(?:وفقًا|وفقا|حسب|بحسب|طبقًا|طبقا)\s+(?:ل|لهذا\s+|لهذه\s+|هذا\s+|هذه\s+)?(?:ال|لل)?(?:نص|فقرة|مقطع|وثيقة|مستند|مقال)|في\s+(?:هذا|هذه)\s+ال(?:نص|فقرة|مقطع|وثيقة|مستند|مقال)",
)  # fmt: skip
MENTIONS = re.compile("|".join(_MENTIONS), re.IGNORECASE)

_COMMANDS = (
    r"\b(?:ignor\w*|disregard\w*|forget|overrid\w*|bypass)\b[^.?!\n]{0,40}\b(?:instruction|prompt|guideline|direction)s?\b",
    r"\b(?:ignor\w*|disregard\w*|forget)\s+(?:all|everything|anything|whatever)\b[^.?!\n]{0,30}\b(?:above|previous|prior|before|earlier)\b",
    r"\bsystem\s+prompt\b|\b(?:hidden|secret)\s+instructions?\b|\binstructions?\s*:|\bjailbreak\w*",
    r"\byou\s+are\s+(?:now|no\s+longer|an?\s+(?:ai|assistant|language\s+model))\b|\bas\s+an?\s+(?:ai|language\s+model)\b|\bpretend\s+(?:to\s+be|you\s+are)\b",
    r"(?:^|[.!?:;]\s+)(?:please\s+|instead,?\s+|just\s+)*(?:respond|reply|answer|output|print|say|write|repeat)\s+(?:only|exactly|with|the\s+(?:word|words|following|phrase|question|text|sentence))\b",
    r"\bignorier\w*\b[^.?!\n]{0,40}\b(?:anweisung|regel|vorgabe|prompt)\w*|\b(?:ignore[zr]?|oublie[zr]?)\b[^.?!\n]{0,40}\b(?:consigne|instruction)s?\b|\b(?:ignor[ae]\w*|olvida|esqueç\w*|dimentica)\b[^.?!\n]{0,40}\b(?:instruc\w+|instruç\w+|istruzion\w+|órdenes)",
    r"\b(?:игнорируй\w*|забудь\w*)[^.?!\n]{0,40}(?:инструкци|указани|правил)",
    r"(?:忽略|无视|忘记|忽視|無視)[^。？！\n]{0,20}(?:指令|指示|说明|提示|规则|命令)|(?:指示|命令|プロンプト)[^。？！\n]{0,12}(?:無視|忘れ)",
    r"(?:تجاهل|انس)[^.؟!\n]{0,30}(?:التعليمات|الأوامر|القواعد)",
)  # fmt: skip
COMMANDS = re.compile("|".join(_COMMANDS), re.IGNORECASE | re.MULTILINE)

MARKUP = re.compile(
    r"https?://|\bwww\.|\bjavascript:|\bdata:\w+/|!?\[[^\]]*\]\(|```|~~~|\{\{|\{%|<\||\|>|\[/?INST\]|</?[a-zA-Z!][^<>]*>|^\s*#{1,6}\s|^\s*[{\[]\s*[\"'{\[]"
    r"|^\s*(?:system|assistant|user|human|question|quote|answer)\s*:",
    re.IGNORECASE | re.MULTILINE,
)

ENDS_OF_QUESTIONS = "?？؟\u037e⁇⁈⁉‽՞፧꘏⸮"
ASKING = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|am|do|does|did|can|could|will|would|shall|should|may|might|must|has|have|had)\b",
    re.IGNORECASE,
)
