"""How much a live retriever agrees with the recorded configuration: the first k rows, and the metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from omegaconf import DictConfig

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.pipeline import Result
from harness.cell.settings import cut_offs, uses
from harness.decision.baseline import Production
from harness.decision.gate import NotComparableError, check_version, cited, left_out_of
from harness.decision.row_agreement import Alike, ComparedRow, agree, counts_of, rows_of
from harness.metrics.operating_point import OperatingPoint
from harness.records import IntArray, Kind
from harness.results.cells import about_questions
from harness.results.scores import scored_under
from harness.verdict import Interval
from harness.verdict.change import Change, change, difference_interval
from harness.verdict.clusters import cluster_ids

# Chunk-independent metrics within 0..1 that are shown beside the deciding one, at the same operating point.
_SHOWN = (
    "recall_at_1",
    "complete_at_1",
    "coverage_dcg_at_1",
    "char_precision_at_1",
)


class Differing(NamedTuple):
    """A question with different rows: both scores (or nan), how many rows are common, and texts to show."""

    question_id: str
    recorded: float
    live: float
    shared: int
    rows: int
    question: str
    evidence: str
    first_recorded: str
    first_live: str


class Parity(NamedTuple):
    """The comparison.

    ``point``: how much of the rankings is compared. ``alike``: question id to the agreement of its rows.
    ``change``: that of ``primary``, the deciding metric. ``metrics``: name to recorded mean, live mean,
    difference. ``differing``: the largest difference first. ``left_out``: recorded questions that can't be
    scored any more, each with the reason.
    """

    point: OperatingPoint
    primary: str
    alike: Mapping[str, Alike]
    change: Change
    metrics: Mapping[str, tuple[float, float, Interval]]
    differing: Sequence[Differing]
    left_out: Mapping[str, str]

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
    # First: a live retriever may be unreachable.
    other = pipeline.evaluate(shared.components(live), ks, primary)
    reference = pipeline.evaluate(one, ks, primary)
    about = about_questions(one.inputs)
    clusters = {name: about[name].cluster for name in recorded.scores if name not in left_out}
    found = parity(reference, other, primary, point or recorded.operating_point, clusters, margin)
    return found._replace(left_out=left_out), other


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
    # Whole documents have no budget, so nothing of them comes back there.
    for kind in (kind for kind in recorded.questions if kind == "span" or point.k is not None):
        counts = counts_of(recorded, kind, point)
        lists = zip(rows_of(recorded, kind, counts), rows_of(live, kind, counts), counts, strict=True)
        ids = [question.question_id for question in recorded.questions[kind]]
        alike |= {question_id: agree(*both) for question_id, both in zip(ids, lists, strict=True)}
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
    values = dict(zip(ids, pairs_of, strict=True))
    differing = _differing(alike, values, _shown(recorded, live))
    return Parity(point, primary, alike, moved, metrics, differing, {})


def _differing(
    alike: Mapping[str, Alike],
    values: Mapping[str, tuple[float, float]],
    shown: Mapping[str, tuple[str, str, str, str]],
) -> list[Differing]:
    nothing = (np.nan, np.nan)
    found = [
        Differing(name, *values.get(name, nothing), round(of.shared * of.rows), of.rows, *shown[name])
        for name, of in alike.items()
        if not of.in_order
    ]
    return sorted(found, key=lambda d: (-abs(np.nan_to_num(d.live - d.recorded)), d.shared))


def _first_rows(result: Result, kind: Kind) -> list[list[ComparedRow]]:
    return rows_of(result, kind, [1] * len(result.questions[kind]))


def _shown(recorded: Result, live: Result) -> dict[str, tuple[str, str, str, str]]:
    texts = {one.doc_id: one.text for result in (recorded, live) for one in result.chunks.documents}

    def cite(rows: Sequence[ComparedRow]) -> str:
        first, *span = rows[0] if rows else ("no row came back",)
        return cited(first, texts[first][slice(*span)] if span else "")

    return {
        q.question_id: (
            q.text,
            cited(q.evidence[0].doc_id, q.evidence[0].quote or ""),
            cite(one),
            cite(other),
        )
        for kind, questions in recorded.questions.items()
        for q, one, other in zip(
            questions, *(_first_rows(result, kind) for result in (recorded, live)), strict=True
        )
    }
