"""Where the evidence stands: the state of each label, and its place in documents and chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

import numpy as np

from harness.golden import State
from harness.questions.check import (
    CheckedEvidence,
    CheckedSet,
    CheckResult,
    Finding,
    Position,
    Severity,
    shortened,
)
from harness.records import Chunks, Evidence
from harness.view.formats import counted

_STATES: tuple[State, ...] = ("VALID", "MOVED", "CHANGED", "LOST")
_FEWEST = 20  # pieces of evidence; with fewer, half in one third may be chance
_THIRD = 1 / 3


class _LabelProblem(NamedTuple):
    """A finding about labels: its words for one label and for several, and the rest of the sentence."""

    kind: str
    severity: Severity
    one: str
    many: str
    rest: str
    advice: str


_MOVED = _LabelProblem(
    "moved",
    "note",
    "label has",
    "labels have",
    " MOVED: the quote stands elsewhere now, exactly once. It was found and is scored.",
    "accept=true writes the new places.",
)
_CHANGED = _LabelProblem(
    "changed",
    "serious",
    "quote",
    "quotes",
    " CHANGED in the documents; {out}.",
    "Compare old and new text: accept=true takes the new text where it still answers the question. "
    "Otherwise correct or delete the line.",
)
_AMBIGUOUS = _LabelProblem(
    "ambiguous",
    "serious",
    "quote stands",
    "quotes stand",
    " in several places, and the label does not say in which; {out}.",
    "accept=true lets any of the places count. If only one is right, give its start and end instead.",
)
_LOST = _LabelProblem(
    "lost",
    "serious",
    "quote is",
    "quotes are",
    " LOST: nothing like it stands in the documents; {out}.",
    "If it was deleted on purpose, accept=true marks the label and keeps it. "
    "Otherwise give the evidence that answers the question now.",
)
_KNOWN = _LabelProblem(
    "known to be lost",
    "note",
    "label is",
    "labels are",
    " marked as LOST in the file; {out}.",
    "Nothing to do: when the text comes back, so does the question.",
)


def labels(checked: CheckedSet, reworded: Mapping[Position, Evidence]) -> CheckResult:
    """States of all evidence, and what to do about evidence that is not VALID.

    ``reworded``: for evidence that changed, the text that seems to have taken its place.
    """
    groups: dict[_LabelProblem, list[CheckedEvidence]] = {
        problem: [] for problem in (_MOVED, _CHANGED, _AMBIGUOUS, _LOST, _KNOWN)
    }
    states: Counter[State] = Counter()
    for piece in checked.pieces():
        states[piece.unit.state] += 1
        if problem := _problem(piece, is_marked=piece.key in checked.marked):
            groups[problem].append(piece)
    found = []
    for problem, pieces in groups.items():
        if not pieces:
            continue
        ids = checked.ids([piece.question for piece in pieces])
        out = f"{counted(len(ids), 'question is', 'questions are')} not scored"
        sentence = counted(len(pieces), problem.one, problem.many) + problem.rest.format(out=out)
        lines = []
        for piece in pieces:
            first, *more = _details(problem, piece, reworded.get(piece.key))
            lines += [f"{checked.questions[piece.question].question_id}: {first}", *more] if first else []
        found.append(Finding(problem.kind, problem.severity, ids, sentence, problem.advice, tuple(lines)))
    fact = ", ".join(f"{states[state]:,} {state}" for state in _STATES if states[state])
    return CheckResult("labels", fact, tuple(found))


def _problem(piece: CheckedEvidence, *, is_marked: bool) -> _LabelProblem | None:
    if piece.unit.state == "CHANGED":
        return _AMBIGUOUS if piece.unit.reason.startswith("AMBIGUOUS") else _CHANGED
    if piece.unit.state == "LOST":
        return _KNOWN if is_marked else _LOST
    return _MOVED if piece.unit.state == "MOVED" else None


def _details(problem: _LabelProblem, piece: CheckedEvidence, new: Evidence | None) -> list[str]:
    if problem is _MOVED or problem is _KNOWN:
        return [_place(piece)]
    if problem is not _CHANGED or new is None:
        return [piece.unit.reason]
    return [
        f"{new.doc_id} at {new.start or 0:,}",
        f"  was: {shortened(piece.written.quote or '', 300)}",
        f"  now: {shortened(new.quote or '', 300)}",
    ]


def _place(piece: CheckedEvidence) -> str:
    now = piece.unit.evidence
    if now is None:
        return ""
    at = "" if now.start is None else f" at {now.start:,}"
    is_same = now.doc_id == piece.written.doc_id
    moved = f"in {now.doc_id}" if is_same else f"{piece.written.doc_id} → {now.doc_id}"
    return f"{moved}{at}: “{shortened(now.quote or '')}”"


def placement(checked: CheckedSet, chunks: Chunks) -> CheckResult:
    """Length of the evidence, and its share in the first third of documents and of chunks, by its middle.

    More than half there hides what truncation costs: a model that reads only the beginning finds it all the
    same.
    """
    length_of = {document.doc_id: len(document.text) for document in checked.documents}
    lengths: list[int] = []
    early: dict[str, list[int]] = {"document": [], "chunk": []}
    for piece in checked.pieces():
        evidence = piece.unit.evidence
        if evidence is None or evidence.start is None or evidence.end is None:
            continue
        lengths.append(evidence.end - evidence.start)
        middle = (evidence.start + evidence.end) / 2
        if middle < _THIRD * length_of[evidence.doc_id]:
            early["document"].append(piece.question)
        if _part_of_chunk(chunks, evidence.doc_id, middle) < _THIRD:
            early["chunk"].append(piece.question)
    if not lengths:
        return CheckResult("evidence", "whole documents")
    share = {what: len(found) / len(lengths) for what, found in early.items()}
    fact = (
        f"{median(lengths):,.0f} characters long (median, {min(lengths):,} to {max(lengths):,}); "
        f"{share['document']:.0%} in the first third of its document, {share['chunk']:.0%} of its chunk"
    )
    most = max(share, key=lambda what: share[what])
    if share[most] <= 0.5 or len(lengths) < _FEWEST:
        return CheckResult("evidence", fact)
    finding = Finding(
        "early evidence",
        "note",
        checked.ids(early[most]),
        f"{share[most]:.0%} of the evidence stands in the first third of its {most}: "
        "the scores hardly show what truncation costs.",
        "Ask about the middle and the end too; compare the column “truncated” beside the scores.",
    )
    return CheckResult("evidence", fact, (finding,))


def _part_of_chunk(chunks: Chunks, doc_id: str, middle: float) -> float:
    """Where a place stands in the first chunk that contains it, from 0 to 1; 1 where no chunk does."""
    doc = chunks.doc_index[doc_id]
    rows = slice(chunks.doc_rows[doc], chunks.doc_rows[doc + 1])
    start, end = chunks.start[rows], chunks.end[rows]
    holding = np.flatnonzero((start <= middle) & (middle < end))
    if not len(holding):
        return 1.0
    row = holding[0]
    return float((middle - start[row]) / (end[row] - start[row]))
