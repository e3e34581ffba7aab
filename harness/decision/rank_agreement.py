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
from harness.decision.gate import NotComparableError, check_version, cited, left_out_of
from harness.records import Chunks, IntArray, Kind
from harness.results.cells import about_questions
from harness.results.scores import scored_under
from harness.verdict import Interval
from harness.verdict.change import Change, change, difference_interval
from harness.verdict.clusters import cluster_ids

# A row as it is compared: its document's id, and its span without white space at its ends (documents: the id
# alone).
_Row: TypeAlias = tuple[str, int, int] | tuple[str]
# Chunk-independent metrics within 0..1 that are shown beside the deciding one.
_SHOWN = (
    "recall_at_{k}",
    "complete_at_{k}",
    "coverage_dcg_at_{k}",
    "char_precision_at_{k}",
    "recall_at_2000_tokens",
)


class Alike(NamedTuple):
    """The first k rows of one question: equal in order, as sets, by document; share of common rows."""

    in_order: bool
    as_sets: bool
    documents: bool
    shared: float


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

    ``alike``: question id to the agreement of its rows. ``change``: that of ``primary``, the deciding metric.
    ``metrics``: name to recorded mean, live mean, difference. ``differing``: the largest difference first.
    ``left_out``: recorded questions that can't be scored any more, each with the reason.
    """

    k: int
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
    recorded: Production, live: DictConfig, k: int, margin: float, max_left_out: float
) -> tuple[Parity, Result]:
    """Asks ``live`` and the recorded configuration the same questions; gives also the live result.

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
    return parity(reference, other, primary, k, clusters, margin)._replace(left_out=left_out), other


def parity(
    recorded: Result, live: Result, primary: str, k: int, clusters: Mapping[str, str], margin: float
) -> Parity:
    """Compares two results for the same questions.

    ``clusters``: question id to its cluster; questions without one take no part in the metrics.
    """
    alike: dict[str, Alike] = {}
    for kind in recorded.questions:
        pairs = zip(_rows(recorded, kind, k), _rows(live, kind, k), strict=True)
        ids = [question.question_id for question in recorded.questions[kind]]
        alike |= {question_id: _alike(*pair, k) for question_id, pair in zip(ids, pairs, strict=True)}
    kind, name = scored_under(primary, recorded.scores)
    before, after = recorded.scores[kind], live.scores[kind]
    ids = list(before.question_ids)
    rows = np.array([i for i, question_id in enumerate(ids) if question_id in clusters], np.int64)
    groups: IntArray = cluster_ids([clusters[ids[i]] for i in rows])
    metrics = {}
    for metric in dict.fromkeys((name, *(shown.format(k=k) for shown in _SHOWN))):
        if metric in before.values and metric in after.values:
            one, other = before.values[metric][rows], after.values[metric][rows]
            interval = difference_interval(other - one, groups)
            metrics[metric] = (float(one.mean()), float(other.mean()), interval)
    moved = change((after.values[name] - before.values[name])[rows], groups, margin, 0.0)
    pairs_of = zip(before.values[name].tolist(), after.values[name].tolist(), strict=True)
    values = dict(zip(ids, pairs_of, strict=True))
    return Parity(k, primary, alike, moved, metrics, _differing(alike, values, k, _shown(recorded, live)), {})


def _differing(
    alike: Mapping[str, Alike],
    values: Mapping[str, tuple[float, float]],
    k: int,
    shown: Mapping[str, tuple[str, str, str, str]],
) -> list[Differing]:
    found = [
        Differing(name, *values.get(name, (np.nan, np.nan)), round(of.shared * k), k, *shown[name])
        for name, of in alike.items()
        if not of.in_order
    ]
    return sorted(found, key=lambda d: (-abs(np.nan_to_num(d.live - d.recorded)), d.shared))


def _shown(recorded: Result, live: Result) -> dict[str, tuple[str, str, str, str]]:
    texts = {one.doc_id: one.text for result in (recorded, live) for one in result.chunks.documents}

    def cite(rows: Sequence[_Row]) -> str:
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
        for q, one, other in zip(questions, _rows(recorded, kind, 1), _rows(live, kind, 1), strict=True)
    }


def _alike(recorded: Sequence[_Row], live: Sequence[_Row], k: int) -> Alike:
    shared = len(set(recorded) & set(live))
    return Alike(
        in_order=recorded == live,
        as_sets=set(recorded) == set(live),
        documents=[row[0] for row in recorded] == [row[0] for row in live],
        # Equal lists of fewer than k rows agree fully.
        shared=1.0 if recorded == live else shared / k,
    )


def _rows(result: Result, kind: Kind, k: int) -> list[list[_Row]]:
    """The first ``k`` rows of each question."""
    ranked = result.rankings[kind].rows[:, :k]
    known = {row: _row(result.chunks, row, kind) for row in np.unique(ranked).tolist() if row >= 0}
    return [[known[row] for row in rows if row >= 0] for rows in ranked.tolist()]


def _row(chunks: Chunks, row: int, kind: Kind) -> _Row:
    if kind == "document":
        return (chunks.documents[row].doc_id,)
    document = chunks.documents[chunks.doc[row]]
    start, end = int(chunks.start[row]), int(chunks.end[row])
    text = document.text[start:end]
    return document.doc_id, start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
