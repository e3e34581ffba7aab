"""What ``accept=true`` writes: the new text of changed quotes, and the lines of the golden file."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from harness.files.atomic import writing
from harness.golden.jsonl import one_of
from harness.golden.question_json import IDS, LOST, evidence_object
from harness.golden.twins import similar_to
from harness.questions.check import CheckedEvidence, CheckedSet, Position
from harness.records import Evidence
from harness.text.words import UNSPACED

_UNIT = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+|[^\w\s]")
_BEYOND = 4  # units that a replaced end of a passage may be longer than twice what it was
_MOST_CHARACTERS = 20_000  # of a quote; longer ones are chapters, which nobody compares by eye


class Proposals(NamedTuple):
    """Evidence that ``accept=true`` would write: new wordings, places of ambiguous quotes, copies."""

    reworded: Mapping[Position, Evidence]
    ambiguous: Mapping[Position, Sequence[Evidence]]
    copies: Mapping[Position, Sequence[Evidence]]


def reworded(checked: CheckedSet) -> Mapping[Position, Evidence]:
    """For evidence that is CHANGED (and not AMBIGUOUS) the most similar span, where enough of it is left.

    It stands in the evidence's own document, unless that is gone.
    """
    changed = {
        piece.key: piece.written
        for piece in checked.pieces()
        if piece.unit.state == "CHANGED"
        and not piece.unit.reason.startswith("AMBIGUOUS")
        and 0 < len(piece.written.quote or "") <= _MOST_CHARACTERS
    }
    similar = similar_to(changed.values(), checked.documents)
    found = {}
    for key, label in changed.items():
        if label in similar:
            document, near = similar[label]
            span = new_span(label.quote or "", document.text, near)
            if span:
                found[key] = Evidence(document.doc_id, *span, document.text[span[0] : span[1]])
    return found


def new_span(quote: str, text: str, near: int) -> tuple[int, int] | None:
    """The part of ``text`` around ``near`` that most resembles ``quote``, from its first word to its last."""
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
    """The run of pairs that belong together: a common word counts for it, a word in between against it.

    A word that recurs in another sentence does not extend the passage (maximum subarray; Kadane).
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
    """The unit where the passage ends, in direction ``way`` from ``at``, if ``steps`` units were replaced.

    That is the end of its sentence where that is near, and never beyond; otherwise as many units on.
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


def accepted(
    objects: Sequence[Mapping[str, Any]],
    entries: Sequence[Sequence[int]],
    checked: CheckedSet,
    proposals: Proposals,
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The new lines, and how many pieces of evidence were changed, by kind of change.

    ``objects[i]`` is the line of ``checked.questions[i]``, and ``entries[i]`` says where in its ``evidence``
    each evidence of the question stands. Valid evidence and lines of other layouts stay as
    they were written. A line without an id gets the one that it has had so far.
    """
    lines = [dict(item) for item in objects]
    done: Counter[str] = Counter()
    for piece in checked.pieces():
        line = lines[piece.question]
        given = line.get("evidence")
        # A quote with an omission is several pieces of evidence, and stays as it was written.
        has_own = len(entries[piece.question]) == len(checked.questions[piece.question].evidence)
        if not isinstance(given, list) or not has_own:
            continue
        what, item = _new(piece, proposals, is_marked=piece.key in checked.marked)
        if item is not None:
            done.update(what)
            entry = entries[piece.question][piece.position]
            line["evidence"] = [*given[:entry], item, *given[entry + 1 :]]
    if done:
        for line, question in zip(lines, checked.questions, strict=True):
            if one_of(line, IDS, "the id") is None:
                line["question_id"] = question.question_id
    return lines, done


def _new(
    piece: CheckedEvidence, proposals: Proposals, *, is_marked: bool
) -> tuple[list[str], dict[str, Any] | None]:
    """What is done to one evidence, and its new object; None where nothing is."""
    now, new = piece.unit.evidence, proposals.reworded.get(piece.key)
    others = (*proposals.copies.get(piece.key, ()), *proposals.ambiguous.get(piece.key, ()))
    if now is None and new is not None:
        return ["reworded"], evidence_object(replace(new, grade=piece.written.grade))
    if now is None and others:
        first = replace(others[0], grade=piece.written.grade, alternatives=others[1:])
        return ["given alternatives"], evidence_object(first)
    if now is None:
        is_lost = piece.unit.state == "LOST" and not is_marked
        marked = {**evidence_object(piece.written), "state": LOST}
        return (["marked as lost"], marked) if is_lost else ([], None)
    what = ["re-anchored"] * (piece.unit.state == "MOVED")
    what += ["given alternatives"] * bool(others)
    what += ["unmarked"] * is_marked
    item = evidence_object(replace(now, alternatives=(*now.alternatives, *others)))
    return (what, item) if what else ([], None)


def keep_backup(path: Path) -> Path:
    """A copy of ``path`` beside it, on the disk when this returns; earlier copies stay.

    Raises ``StoreError``.
    """
    number, backup = 1, path.with_name(f"{path.name}.bak")
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}.bak{number}")
    with writing(backup, durable=True) as file:
        file.write(path.read_bytes())
    return backup
