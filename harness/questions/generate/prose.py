"""What of a document is worth a question: sentences are; code, numbers, names in a row and lists of links are not."""

from __future__ import annotations

import html
import re
from typing import Literal

from harness.text.words import UNSPACED, size

Worth = Literal["prose", "filler", "skipped"]
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|!\[[^\]]*\])*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)?[^()]*\)|<a\b[^<>]*>(.*?)</a>|https?://\S+",
    re.DOTALL,
)
_LEADER = re.compile(r"(?:\.[ \t]?){4,}[ \t]*\w{0,6}[ \t]*$|[^\W\d].*(?:\t|[ ]{3,})\d{1,4}[ \t]*$")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W\d_]+|\d+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_CODE = re.compile(r"[{}();=<>\\\[\]]")
_LETTERS = 0.55  # share of the characters that are not blank
_NUMBERS = 0.4  # share of the words
_LOWER = 0.35  # share of the words, in scripts that have capitals; German prose has about 0.6
_DIFFERENT = 0.15  # share of the words; half a page that says the same line again and again has less
_CODE_SHARE = 0.08
_LINKED = 0.6
_NOT_READ = (
    "contents|table of contents|toc|on this page|in this article|navigation|references|bibliography|works cited|see also|external links|"
    "further reading|inhaltsverzeichnis|inhalt|literatur|quellen|siehe auch|weblinks|sommaire|table des matières|références|voir aussi|"
    "contenido|índice|referencias|véase también|sumário|referências|indice|bibliografia|"
    "目录|目次|参考文献|参考资料|外部链接|関連項目|المراجع|المحتويات"
)


def worth(text: str, path: tuple[str, ...]) -> Worth:
    """``prose`` is asked about, ``filler`` may stand between prose (code, tables of numbers), ``skipped`` parts what it stands between."""
    if path and path[-1].strip(" :.").lower() in _NOT_READ.split("|"):
        return "skipped"
    if _is_list_of_links(text) or _is_contents(text):
        return "skipped"
    plain = shown(text)
    words = _WORD.findall(plain)
    if not words:
        return "filler"
    letters = sum(map(str.isalpha, plain)) / max(1, sum(map(len, plain.split())))
    numbers = sum(word.isdigit() for word in words) / len(words)
    is_code = len(_CODE.findall(plain)) > _CODE_SHARE * len(plain)
    is_echo = len(words) > 50 and len(set(words)) < _DIFFERENT * len(words)
    if is_echo or letters < _LETTERS or numbers > _NUMBERS or is_code or _is_names(words):
        return "filler"
    return "prose"


def shown(text: str) -> str:
    """``text`` as a reader sees it: without tags and addresses, entities as characters."""
    if "<" in text:
        text = _TAG.sub("", text)
    if "](" in text or "://" in text:
        text = _LINK.sub(lambda match: match[1] or match[2] or "", text)
    return html.unescape(text) if "&" in text else text


def _is_names(words: list[str]) -> bool:
    """Whether hardly a word begins with a small letter although the script has them: authors, references, titles."""
    cased = [word for word in words if word[0].isupper() or word[0].islower()]
    return len(cased) > len(words) / 2 and sum(word[0].islower() for word in words) < _LOWER * len(words)


def _is_list_of_links(text: str) -> bool:
    links = [match for match in _LINK.finditer(text) if not match[0].startswith("http")]
    if len(links) < 3:
        return False
    linked = sum(len(match[0]) for match in links)
    return linked > _LINKED * len(text)


def _is_contents(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= 3 and 2 * sum(_LEADER.search(line) is not None for line in lines) > len(lines)


def prose_size(text: str) -> int:
    """Size of what a reader sees of ``text`` (``harness.text.words.size``)."""
    return size(shown(text))
