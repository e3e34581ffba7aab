"""The text that has taken the place of a quote that was edited."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import NamedTuple

from harness.questions.check import Examined
from harness.text.spans import find_similar
from harness.text.words import UNSPACED

_UNIT = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+|[^\w\s]")
_BEYOND = 4  # units that a replaced end of a passage may be longer than twice what it was
_MOST_CHARACTERS = 20_000  # of a quote; longer ones are chapters, which nobody compares by eye


class Reworded(NamedTuple):
    """A span of a document and its text."""

    doc_id: str
    start: int
    end: int
    quote: str


def reworded(examined: Examined) -> Mapping[tuple[int, int], Reworded]:
    """For evidence that is CHANGED (and not in several places) the span most like it, by positions of question and evidence.

    Evidence of which too little is left has none.
    """
    changed = {
        (piece.question, piece.position): piece.written.quote
        for piece in examined.pieces()
        if piece.unit.state == "CHANGED"
        and not piece.unit.reason.startswith("AMBIGUOUS")
        and piece.written.quote
    }
    similar = find_similar(
        {quote for quote in changed.values() if len(quote) <= _MOST_CHARACTERS}, examined.documents
    )
    found = {}
    for key, quote in changed.items():
        if quote in similar:
            document = examined.documents[similar[quote].document]
            span = new_span(quote, document.text, similar[quote].start)
            if span:
                found[key] = Reworded(document.doc_id, *span, document.text[span[0] : span[1]])
    return found


def new_span(quote: str, text: str, near: int) -> tuple[int, int] | None:
    """The stretch of ``text`` around ``near`` that most resembles ``quote``, from the counterpart of its first word to that of its last."""
    low, high = max(0, near - len(quote)), near + 3 * len(quote)
    units = [match.span() for match in _UNIT.finditer(text, low, min(high, len(text)))]
    ours = _UNIT.findall(quote)
    theirs = [text[start:end] for start, end in units]
    blocks = difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
    pairs = [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
    pairs = _together(pairs)
    if not pairs:
        return None
    first = _step(text, units, pairs[0][1], -1, pairs[0][0])
    last = _step(text, units, pairs[-1][1], 1, len(ours) - 1 - pairs[-1][0])
    return units[first][0], units[last][1]


def _together(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The run of pairs that belong together: a word in common counts for it, one in between against it.

    So a word that recurs in another sentence does not stretch the passage (the greatest sum of neighbours; Kadane).
    """
    best, begin, most, total = (0, 0), 0, 0, 0
    for i, (_, at) in enumerate(pairs):
        total += 1 - (at - pairs[i - 1][1] - 1 if i else 0)
        if total < 1:
            begin, total = i, 1
        if total > most:
            best, most = (begin, i + 1), total
    return pairs[slice(*best)]


def _step(text: str, units: list[tuple[int, int]], at: int, way: int, steps: int) -> int:
    """The unit where the passage ends, ``way`` from ``at``, when so many ``steps`` were replaced there.

    That is the end of its sentence where that is near, and never beyond; else as many units on.
    """
    if not steps:
        return at
    here = at
    for taken in range(2 * steps + _BEYOND):
        following = here + way
        if not 0 <= following < len(units):
            return here
        earlier, later = sorted((here, following))
        between = text[units[earlier][1] : units[later][0]]
        ended = text[units[earlier][0] : units[earlier][1]] in {".", "!", "?", "\u3002"}
        if "\n\n" in between.replace("\r", "") or (ended and between):
            return here
        here = following
        if taken + 1 == steps:
            at = here
    return at
