"""What of a document is prose: what is worth a question, and where long paragraphs are cut."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

from harness.questions.generate.markup import LINK, shown
from harness.text.encodings import encodable
from harness.text.words import UNSPACED, size

Worth = Literal["prose", "filler", "skipped"]
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
    "contents|table of contents|toc|on this page|in this article|navigation|references|bibliography|"
    "works cited|see also|external links|further reading|inhaltsverzeichnis|inhalt|literatur|quellen|"
    "siehe auch|weblinks|sommaire|table des matières|références|voir aussi|contenido|índice|"
    "referencias|véase también|sumário|referências|indice|bibliografia|"
    "目录|目次|参考文献|参考资料|外部链接|関連項目|"
    "المراجع|المحتويات"
)
_ROWS = re.compile(r"\s*(?:\||[-*+•]\s|\d+[.)]\s)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = re.compile(r"\s+")


def worth(text: str, path: tuple[str, ...]) -> Worth:
    """``prose`` is asked about, ``filler`` (code, tables) may stand between it, ``skipped`` separates."""
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


def _is_names(words: list[str]) -> bool:
    """Whether hardly any word begins with a small letter: authors, references, titles."""
    cased = [word for word in words if word[0].isupper() or word[0].islower()]
    return len(cased) > len(words) / 2 and sum(word[0].islower() for word in words) < _LOWER * len(words)


def _is_list_of_links(text: str) -> bool:
    links = [match for match in LINK.finditer(text) if not match[0].startswith("http")]
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


def cut(text: str, start: int, end: int, wanted: int, limit: int) -> list[tuple[int, int]]:
    """``text[start:end]`` in spans of about equal size, near ``wanted`` and at most ``limit``.

    White space at the ends of a span is left out.
    """
    total = size(text[start:end])
    pieces = -(-total // wanted)
    goal, bounds, first, weight = total / pieces, [start], start, 0
    for last in _ends(text, start, end, limit):
        more = size(text[first:last])
        if weight and weight + more > limit:
            bounds.append(first)
            weight = 0
        weight += more
        first = last
        if weight >= goal:
            bounds.append(last)
            weight = 0
    if bounds[-1] != end:
        bounds.append(end)
    if (
        len(bounds) > 2
        and size(text[bounds[-2] : end]) < wanted / 3
        and size(text[bounds[-3] : end]) <= limit
    ):
        del bounds[-2]
    spans = [_stripped(text, *span) for span in pairwise(bounds)]
    return [span for span in spans if span[0] < span[1]]


def _ends(text: str, start: int, end: int, limit: int) -> list[int]:
    """Where ``text[start:end]`` may be cut: increasing offsets, at most half of ``limit`` apart."""
    inner = text[start:end]
    if _ROWS.match(inner) and len(_LINE_END.findall(inner)) > 1:
        found = [start + match.end() for match in _LINE_END.finditer(inner)]
    else:
        import sentencex

        found = [
            start + int(each["start_index"])
            for each in sentencex.get_sentence_boundaries("en", encodable(inner))
        ]
    ends: list[int] = []
    before = start
    for place in [*(place for place in found if start < place < end), end]:
        ends += _within(text, before, place, limit // 2)
        ends.append(place)
        before = place
    return ends


def _within(text: str, start: int, end: int, limit: int) -> list[int]:
    """Cuts inside a sentence that is too long: after the last line end or blank of each ``limit``."""
    cuts = []
    width = limit if size(text[start:end]) == end - start else limit // 2
    while end - start > width:
        window = text[start : start + width]
        gaps = list(_LINE_END.finditer(window, width // 2)) or list(_BLANK.finditer(window, width // 2))
        start += gaps[-1].end() if gaps else width
        cuts.append(start)
    return cuts


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())
