"""Cuts of a long paragraph at the ends of sentences, or of lines, or wherever there is a blank."""

from __future__ import annotations

import re
from itertools import pairwise

from harness.text.encodings import encodable
from harness.text.words import size

_ROWS = re.compile(r"\s*(?:\||[-*+•]\s|\d+[.)]\s)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = re.compile(r"\s+")


def cut(text: str, start: int, end: int, wanted: int, limit: int) -> list[tuple[int, int]]:
    """``text[start:end]`` in spans of about equal size, near ``wanted`` and at most ``limit`` (``harness.text.words.size``).

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
    spans = [_trimmed(text, *span) for span in pairwise(bounds)]
    return [span for span in spans if span[0] < span[1]]


def _ends(text: str, start: int, end: int, limit: int) -> list[int]:
    """Where ``text[start:end]`` may be cut: increasing offsets, the last one ``end``, nowhere further apart than half of ``limit``."""
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
    """Cuts inside a sentence that is too long: behind the last line end, else blank, of each ``limit`` characters."""
    cuts = []
    width = limit if size(text[start:end]) == end - start else limit // 2
    while end - start > width:
        window = text[start : start + width]
        gaps = list(_LINE_END.finditer(window, width // 2)) or list(_BLANK.finditer(window, width // 2))
        start += gaps[-1].end() if gaps else width
        cuts.append(start)
    return cuts


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())
