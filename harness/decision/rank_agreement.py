"""How alike two rankings of the same questions are: what stands in the first k rows, and what the metrics say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.cell.pipeline import Result
from harness.records import Chunks, Document, IntArray, Kind
from harness.verdict import Interval
from harness.verdict.change import Change, change, difference_interval

# A row as it is compared: its document's id, and its span without the white space at its ends; for whole documents the id alone.
_Row: TypeAlias = tuple[str, int, int] | tuple[str]
# Chunk-independent metrics within 0..1 that are shown beside the deciding one, where they were measured.
_SHOWN = (
    "recall_at_{k}",
    "complete_at_{k}",
    "coverage_dcg_at_{k}",
    "char_precision_at_{k}",
    "recall_at_2000_tokens",
)


class Alike(NamedTuple):
    """The first k rows of one question: the same in the same order, the same in any order, of the same documents; and rows in both / k."""

    in_order: bool
    as_sets: bool
    documents: bool
    shared: float


class Differing(NamedTuple):
    """A question that the two answer differently: the deciding metric of both, nan where it has none, and how many of ``rows`` rows both have."""

    question_id: str
    recorded: float
    live: float
    shared: int
    rows: int


class Parity(NamedTuple):
    """The comparison. ``alike``: question id to its rows. ``primary`` of ``change`` decides; ``metrics``: name to recorded mean, live mean, difference.

    ``differing``: what differs most first. ``failed``: questions that the live retriever did not answer.
    """

    k: int
    primary: str
    alike: Mapping[str, Alike]
    change: Change
    metrics: Mapping[str, tuple[float, float, Interval]]
    differing: Sequence[Differing]

    def share(self, name: str) -> float:
        """The share of questions for which it holds, or the mean of ``shared``."""
        return float(np.mean([getattr(alike, name) for alike in self.alike.values()]))


def parity(
    recorded: Result, live: Result, primary: str, k: int, clusters: Mapping[str, str], margin: float
) -> Parity:
    """Compares what the two gave for the same questions. ``clusters``: question id to its cluster; questions without one take no part in the metrics."""
    alike: dict[str, Alike] = {}
    for kind in recorded.questions:
        pairs = zip(_rows(recorded, kind, k), _rows(live, kind, k), strict=True)
        ids = [question.question_id for question in recorded.questions[kind]]
        alike |= {question_id: _alike(*pair, k) for question_id, pair in zip(ids, pairs, strict=True)}
    kind, name = _meant(recorded, primary)
    before, after = recorded.scores[kind], live.scores[kind]
    kept = np.array(
        [i for i, question_id in enumerate(before.question_ids) if question_id in clusters], np.int64
    )
    _, of = np.unique([clusters[before.question_ids[i]] for i in kept], return_inverse=True)
    groups: IntArray = of.astype(np.int64)
    metrics = {}
    for metric in dict.fromkeys((name, *(shown.format(k=k) for shown in _SHOWN))):
        if metric in before.values and metric in after.values:
            one, other = before.values[metric][kept], after.values[metric][kept]
            metrics[metric] = (
                float(one.mean()),
                float(other.mean()),
                difference_interval(other - one, groups),
            )
    moved = change((after.values[name] - before.values[name])[kept], groups, margin, 0.0)
    values = {
        question_id: (float(b), float(a))
        for question_id, b, a in zip(
            before.question_ids, before.values[name], after.values[name], strict=True
        )
    }
    return Parity(k, primary, alike, moved, metrics, _differing(alike, values, k))


def _meant(result: Result, primary: str) -> tuple[Kind, str]:
    """The kind of question that a flat name speaks of, and the name there."""
    kinds = list(result.scores)
    if primary.startswith("document_") and len(kinds) > 1:
        return "document", primary.removeprefix("document_")
    return kinds[0], primary


def _differing(
    alike: Mapping[str, Alike], values: Mapping[str, tuple[float, float]], k: int
) -> list[Differing]:
    nothing = (float("nan"), float("nan"))
    found = [
        Differing(question_id, *values.get(question_id, nothing), shared=round(of.shared * k), rows=k)
        for question_id, of in alike.items()
        if not of.in_order
    ]
    return sorted(found, key=lambda d: (-abs(np.nan_to_num(d.live - d.recorded)), d.shared))


def _alike(recorded: Sequence[_Row], live: Sequence[_Row], k: int) -> Alike:
    shared = len(set(recorded) & set(live))
    return Alike(
        in_order=recorded == live,
        as_sets=set(recorded) == set(live),
        documents=[row[0] for row in recorded] == [row[0] for row in live],
        # Where both gave the same few rows, nothing is missing.
        shared=1.0 if recorded == live else shared / k,
    )


def _rows(result: Result, kind: Kind, k: int) -> list[list[_Row]]:
    """The first ``k`` rows of each question."""
    chunks, known = result.chunks, {}  # type: Chunks, dict[int, _Row]
    rankings = []
    for rows in result.rankings[kind].rows[:, :k].tolist():
        for row in rows:
            if row >= 0 and row not in known:
                known[row] = _row(chunks, row, kind)
        rankings.append([known[row] for row in rows if row >= 0])
    return rankings


def _row(chunks: Chunks, row: int, kind: Kind) -> _Row:
    if kind == "document":
        return (chunks.documents[row].doc_id,)
    document: Document = chunks.documents[chunks.doc[row]]
    start, end = int(chunks.start[row]), int(chunks.end[row])
    text = document.text[start:end]
    return document.doc_id, start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
