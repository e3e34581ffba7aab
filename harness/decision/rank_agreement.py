"""How much a live retriever agrees with the recorded configuration: the first k rows, and the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from omegaconf import DictConfig

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.pipeline import Result
from harness.cell.settings import cut_offs, uses
from harness.decision.baseline import Production
from harness.decision.gate import NotComparableError, check_version, left_out_of
from harness.metrics.operating_point import OperatingPoint
from harness.metrics.reading import rows_within, tokens_read
from harness.records import Chunks, IntArray, Kind
from harness.results.cells import about_questions
from harness.results.scores import scored_under
from harness.verdict import Interval
from harness.verdict.change import Change, change, difference_interval
from harness.verdict.clusters import cluster_ids

# A row as it is compared: its document's id, and its span without white space at its ends (documents: the id
# alone).
_Row: TypeAlias = tuple[str, int, int] | tuple[str]
# Chunk-independent metrics within 0..1 that are shown beside the deciding one, at the same operating point.
_SHOWN = (
    "recall_at_1",
    "complete_at_1",
    "coverage_dcg_at_1",
    "char_precision_at_1",
)


class Alike(NamedTuple):
    """The first rows of one question: equal in order, as sets, by document; share of common ``rows``."""

    in_order: bool
    as_sets: bool
    documents: bool
    shared: float
    rows: int


class Differing(NamedTuple):
    """A question with different rows: the deciding metric of both (or nan), and the number of common rows."""

    question_id: str
    recorded: float
    live: float
    shared: int
    rows: int


class Parity(NamedTuple):
    """The comparison.

    ``point``: how much of the rankings is compared. ``alike``: question id to the agreement of its rows.
    ``change``: that of ``primary``, the deciding metric. ``metrics``: name to recorded mean, live mean,
    difference. ``differing``: the largest difference first.
    """

    point: OperatingPoint
    primary: str
    alike: Mapping[str, Alike]
    change: Change
    metrics: Mapping[str, tuple[float, float, Interval]]
    differing: Sequence[Differing]

    def is_equivalent(self, margin: float) -> bool:
        """Whether both limits of the difference of ``primary`` lie within ``margin``."""
        lo, hi = self.change.difference.lo, self.change.difference.hi
        return lo is not None and hi is not None and -margin < lo and hi < margin

    def share(self, name: str) -> float:
        """The share of questions for which the field ``name`` holds; the mean of ``shared``."""
        return float(np.mean([getattr(alike, name) for alike in self.alike.values()]))


def agreement(
    recorded: Production,
    live: DictConfig,
    point: OperatingPoint | None,
    margin: float,
    max_left_out: float,
) -> tuple[Parity, Result]:
    """Asks ``live`` and the recorded configuration the same questions; gives also the live result.

    ``point``: how much of their rankings is compared; None: what the recorded configuration returns.
    Raises ``NotComparableError`` where the two can't be compared.
    """
    config, primary = recorded.composed.config, str(recorded.recorded["primary"])
    check_version(recorded)
    if not uses(config, "chunker"):
        raise NotComparableError(
            "the recorded configuration is a live retriever itself, so its answers can't be made again. "
            "python -m harness.gate compares it with its recorded scores."
        )
    shared = Shared()
    one = shared.components(config)
    labels = one.inputs.labels
    asked = {question.question_id for question in labels.questions}
    left_out = left_out_of(recorded, asked, labels.left_out, max_left_out)
    ks = cut_offs(config)
    other = pipeline.evaluate(
        shared.components(live), ks, primary
    )  # first: a live retriever may be unreachable
    reference = pipeline.evaluate(one, ks, primary)
    about = about_questions(one.inputs)
    clusters = {name: about[name].cluster for name in recorded.scores if name not in left_out}
    return parity(reference, other, primary, point or recorded.operating_point, clusters, margin), other


def parity(
    recorded: Result,
    live: Result,
    primary: str,
    point: OperatingPoint,
    clusters: Mapping[str, str],
    margin: float,
) -> Parity:
    """Compares two results for the same questions.

    Within a budget, as many rows of each question as the recorded configuration returns. ``clusters``:
    question id to its cluster; questions without one take no part in the metrics.
    """
    alike: dict[str, Alike] = {}
    for kind in recorded.questions:
        counts = _counts(recorded, kind, point)
        lists = zip(_rows(recorded, kind, counts), _rows(live, kind, counts), counts, strict=True)
        ids = [question.question_id for question in recorded.questions[kind]]
        alike |= {question_id: _alike(*both) for question_id, both in zip(ids, lists, strict=True)}
    kind, name = scored_under(primary, recorded.scores)
    before, after = recorded.scores[kind], live.scores[kind]
    ids = list(before.question_ids)
    rows = np.array([i for i, question_id in enumerate(ids) if question_id in clusters], np.int64)
    groups: IntArray = cluster_ids([clusters[ids[i]] for i in rows])
    metrics = {}
    for metric in dict.fromkeys((name, *(point.at(shown) for shown in _SHOWN))):
        if metric in before.values and metric in after.values:
            one, other = before.values[metric][rows], after.values[metric][rows]
            interval = difference_interval(other - one, groups)
            metrics[metric] = (float(one.mean()), float(other.mean()), interval)
    moved = change((after.values[name] - before.values[name])[rows], groups, margin, 0.0)
    pairs_of = zip(before.values[name].tolist(), after.values[name].tolist(), strict=True)
    differing = _differing(alike, dict(zip(ids, pairs_of, strict=True)))
    return Parity(point, primary, alike, moved, metrics, differing)


def _differing(alike: Mapping[str, Alike], values: Mapping[str, tuple[float, float]]) -> list[Differing]:
    nothing = (float("nan"), float("nan"))
    found = [
        Differing(question_id, *values.get(question_id, nothing), round(of.shared * of.rows), of.rows)
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
        # Equal lists of fewer than k rows agree fully.
        shared=1.0 if recorded == live else shared / k,
        rows=k,
    )


def _counts(result: Result, kind: Kind, point: OperatingPoint) -> list[int]:
    """How many rows of each question come back; whole documents have no budget."""
    rows = result.rankings[kind].rows
    if point.context_budget is None or kind == "document":
        return [point.k or rows.shape[1]] * len(rows)
    within = rows_within(point.context_budget, tokens_read(result.chunks, rows)) + 1  # the cut row too
    return [min(count, rows.shape[1]) for count in within.tolist()]


def _rows(result: Result, kind: Kind, counts: Sequence[int]) -> list[list[_Row]]:
    """The first rows of each question, of each as many as ``counts`` says."""
    known: dict[int, _Row] = {}
    rankings = []
    for count, ranked in zip(counts, result.rankings[kind].rows.tolist(), strict=True):
        rows = [row for row in ranked[:count] if row >= 0]
        known |= {row: _row(result.chunks, row, kind) for row in rows if row not in known}
        rankings.append([known[row] for row in rows])
    return rankings


def _row(chunks: Chunks, row: int, kind: Kind) -> _Row:
    if kind == "document":
        return (chunks.documents[row].doc_id,)
    document = chunks.documents[chunks.doc[row]]
    start, end = int(chunks.start[row]), int(chunks.end[row])
    text = document.text[start:end]
    return document.doc_id, start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
