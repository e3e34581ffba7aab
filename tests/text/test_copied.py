"""Quotes as people copy them: the exact span in the document, or nothing, never another span."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.records import Document
from harness.text.copied import parts_of, way_of
from harness.text.spans import Span, find_spans, span_at

# Words of five scripts, none twice in a row of four; the last two are written without blanks.
LATIN = "The ﬁrst eﬀective filter’s warranty covers “gold” pumps for 20–30 days at −20 °C if installed Kündigung ≥ 3 bar"
CYRILLIC = "Возврат средств за «золотой» насос возможен в течение 14–20 дней если ёмкость цела и пломба не снята"
ARABIC = "يمكن إرجاع المضخة “الذهبية” خلال ثلاثين يومًا من تاريخ الشراء إذا كانت العبوة سليمة ولم تفتح"
CHINESE = "本 保 修 涵 盖 “黄 金” 水 泵 并 在 购 买 后 30 天 内 退 款 。"
THAI = "การ รับประกัน ครอบคลุม ปั๊มน้ำ “ทอง” เป็น เวลา สามสิบ วัน หลัง จาก ซื้อ"
SCRIPTS = [(LATIN.split(), " "), (CYRILLIC.split(), " "), (ARABIC.split(), " "), (CHINESE.split(), ""), (THAI.split(), "")]
ASCII = str.maketrans({"’": "'", "“": '"', "”": '"', "«": '"', "»": '"', "–": "-", "−": "-", "\u00a0": " "})
EDGES = "“”«»\"'。"


def typed(text):
    """As somebody types it, in ASCII where that is possible."""
    plain = text.translate(ASCII).replace("≥", ">=").replace("ﬁ", "fi").replace("ﬀ", "ff")
    return unicodedata.normalize("NFC", plain)


def damaged_word(word, how):
    """A word as a document may have it, and the offsets of its characters in that."""
    if how == "decomposed":
        word = unicodedata.normalize("NFD", word)
    elif how == "hyphenated" and len(word) > 2:
        word = word[:2] + "\u00ad\u200b" + word[2:]
    elif how == "direction":
        word = "\u200f" + word + "\u200e"
    before, after = {
        "bold": ("**", "**"),
        "italic": ("_", "_"),
        "code": ("`", "`"),
        "link": ("[", "](http://a.b/c)"),
        "tag": ("<b>", "</b>"),
        "span": ('<span class="x">', "</span>"),
    }.get(how, ("", ""))
    lead = 1 if how == "direction" else 0
    return before + word + after, len(before) + lead, len(before) + len(word) - lead


HOWS = st.sampled_from(
    ["", "", "", "decomposed", "hyphenated", "direction", "bold", "italic", "code", "link", "tag", "span"]
)
BLANKS = st.sampled_from([" ", "\n", "\u00a0", "\u2009 ", "&nbsp;", "  ", "\r\n> ", "\n- ", " | "])


@st.composite
def copies(draw):
    """A document, a quote of it as somebody copied it, and the span where it stands."""
    words, blank = draw(st.sampled_from(SCRIPTS))
    first = draw(st.integers(0, len(words) - 4))
    last = draw(st.integers(first + 3, len(words)))
    text, starts, ends = "", [], []
    for word in words:
        shown, start, end = damaged_word(word, draw(HOWS))
        starts.append(len(text) + start)
        ends.append(len(text) + end)
        text += shown + (draw(BLANKS) if blank else "")
    quote = blank.join(map(typed, words[first:last]))
    start, end = starts[first], ends[last - 1]
    ending = draw(st.sampled_from(["", "", "stop", "quoted", "capital", "omission"]))
    if ending == "stop" and words[last - 1][-1] not in EDGES:
        quote += "."
    elif ending == "quoted" and words[first][0] not in EDGES and words[last - 1][-1] not in EDGES:
        quote = f"“{quote}”"
    elif ending == "capital":
        quote = quote[0].swapcase() + quote[1:]
    elif ending == "omission" and words[first][0] not in EDGES and words[last - 1][-1] not in EDGES:
        quote = f"[...] {quote} …"
    return text, quote, (start, end)


@settings(derandomize=True, max_examples=1500, deadline=None)
@given(copies())
def test_a_damaged_quote_is_found_exactly_or_not_at_all(case):
    """Latin, Cyrillic, Arabic, Chinese and Thai; every word typeset otherwise than it was copied."""
    text, quote, span = case

    found = find_spans({quote}, [Document("other", "Nothing of it."), Document("d", text)], 20)[quote]

    assert found in ([Span(1, *span)], []), (text[slice(*found[0][1:])], text[slice(*span)])
    assert found
