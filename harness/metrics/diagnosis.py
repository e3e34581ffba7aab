"""Why a question was not answered: one suspicion per question, the first that holds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.metrics.coverage import Reach
from harness.metrics.health import nonblank_inside, read_part
from harness.metrics.intervals import sum_by, union_lengths
from harness.metrics.nonblank import NonblankOffsets
from harness.metrics.operating_point import OVER_BUDGETS, OperatingPoint, nearest_budget
from harness.metrics.relevance import UNRANKED, ranks_of
from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import Chunks, Encoded, FloatArray, IntArray, Ranking

CAUSES = ("not_in_index", "found", "truncated", "split", "partial", "ranked_low", "not_retrieved")

# ``ranked_low`` looks down to this rank, or to a tenth of the rows where that is less.
_LOW_RANK = 100


def diagnose(
    inputs: ScoringInputs, ranking: Ranking, chunks: Chunks, encoded: Encoded | None, primary: str
) -> tuple[str, ...]:
    """One of ``CAUSES`` for each question, at the k or budget of the metric ``primary``.

    A mean over budgets is diagnosed at the budget nearest to 2,000 tokens. A metric without a k (or with a
    budget, for documents) is diagnosed at k = 5, or at the largest k if 5 is not asked for.

    - ``not_in_index``: all chunks together do not hold some evidence, so no ranking could have helped. Where
      not all chunks are known, only evidence in documents that are not there.
    - ``found``: every evidence is covered.
    - ``truncated``: more than half of the missing characters lie beyond the model's maximum sequence length.
    - ``split``: some evidence is covered in part, and unread parts of it lie in other chunks.
    - ``partial``: one evidence is covered, another is not.
    - ``ranked_low``: missing evidence has a relevant row not far below.
    - ``not_retrieved``: none of these.
    """
    reach = primary_reach(inputs, primary)
    labels, coverage = inputs.labels, inputs.coverage
    shares = coverage.span_shares(reach)
    best = _best_span(inputs, shares)
    covered = shares[best]
    complete = inputs.is_complete(covered)
    missing = ~complete
    holds = {
        "not_in_index": _any(inputs, _out_of_reach(inputs, chunks)),
        "found": ~_any(inputs, missing),
        "truncated": _truncated(inputs, best[missing], reach, ranking, chunks, encoded),
        "split": _any(inputs, missing & (covered > 0) & _has_unread_piece(inputs, reach)[best]),
        "partial": _any(inputs, complete) & _any(inputs, missing),
        "ranked_low": _any(inputs, missing & _ranked_low(inputs, chunks.returned)),
    }
    # A question without evidence has nothing that could be found.
    holds["not_in_index"] |= np.bincount(labels.group_question, minlength=inputs.questions) == 0
    chosen = np.select(list(holds.values()), list(range(len(holds))), default=len(holds))
    return tuple(CAUSES[cause] for cause in chosen)


def _out_of_reach(inputs: ScoringInputs, chunks: Chunks) -> npt.NDArray[np.bool_]:
    """For each group, bool (groups,): no ranking could have covered it."""
    if chunks.complete:
        return ~inputs.is_complete(inputs.coverage.reachable())
    labels = inputs.labels
    there = np.bincount(labels.span_group[labels.span_doc >= 0], minlength=labels.groups) > 0
    return ~there


def primary_reach(inputs: ScoringInputs, primary: str) -> Reach:
    """What had been read at the k or budget of ``primary``; see ``diagnose``."""
    point = OperatingPoint.of(primary)
    if primary == OVER_BUDGETS and inputs.budgets:
        point = OperatingPoint(context_budget=nearest_budget(inputs.budgets))
    if point and point.context_budget and point.context_budget in inputs.reach_of:
        return inputs.reach_of[point.context_budget]
    if point and point.k is not None:
        return inputs.reach_at(point.k)
    return inputs.reach_at(5 if 5 in inputs.ks else max(inputs.ks, default=5))


def _any(inputs: ScoringInputs, of_group: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether it holds, bool (questions,), for one of the question's groups."""
    return np.bincount(inputs.labels.group_question[of_group], minlength=inputs.questions) > 0


def _best_span(inputs: ScoringInputs, shares: FloatArray) -> IntArray:
    """int64 (groups,): the span of each group that was read best, the first of equals."""
    group = inputs.labels.span_group
    order = np.lexsort((-shares, group))
    return order[np.searchsorted(group, np.arange(inputs.labels.groups))]


def _has_unread_piece(inputs: ScoringInputs, reach: Reach) -> npt.NDArray[np.bool_]:
    """For each span, bool (spans,): a part of it stands only in rows that were not read at all."""
    coverage = inputs.coverage
    last = reach.whole + (reach.cut >= 0)
    unread = coverage.rank > last[coverage.question]
    return np.bincount(coverage.span[unread], minlength=len(coverage.span_group)) > 0


def _ranked_low(inputs: ScoringInputs, chunks: Chunks) -> npt.NDArray[np.bool_]:
    """For each group, bool (groups,): a relevant row stands within the first hundred rows or first tenth."""
    rows = len(chunks.documents) if inputs.kind == "document" else len(chunks)
    return inputs.group_rank <= min(_LOW_RANK, rows // 10)


def _truncated(
    inputs: ScoringInputs,
    best: IntArray,
    reach: Reach,
    ranking: Ranking,
    chunks: Chunks,
    encoded: Encoded | None,
) -> npt.NDArray[np.bool_]:
    """For each question, bool (questions,): over half of its unread missing evidence was truncated."""
    labels = inputs.labels
    if encoded is None or not np.any(encoded.seen_tokens < encoded.tokens):
        return np.zeros(inputs.questions, dtype=np.bool_)
    doc, start, end = labels.span_doc[best], labels.span_start[best], labels.span_end[best]
    question = labels.span_question[best]
    nonblank = inputs.nonblank or NonblankOffsets(chunks.documents, doc)
    read = _read_intervals(
        inputs.kind, question, (doc, start, end), reach, ranking, chunks.returned, nonblank
    )
    low, high, pairs = nonblank_inside(read_part(chunks, encoded), doc, start, end, nonblank)
    total = nonblank.before(doc, end) - nonblank.before(doc, start)
    missing = total - union_lengths(*read, len(best))
    span, low, high = (np.concatenate(both) for both in zip(read, (pairs.span, low, high), strict=True))
    truncated = total - union_lengths(span, low, high, len(best))
    of_question = (sum_by(question, part, inputs.questions) for part in (truncated, missing))
    truncated_characters, missing_characters = of_question
    return 2 * truncated_characters > missing_characters


def _read_intervals(
    kind: str,
    question: IntArray,
    spans: tuple[IntArray, IntArray, IntArray],
    reach: Reach,
    ranking: Ranking,
    chunks: Chunks,
    nonblank: NonblankOffsets,
) -> tuple[IntArray, IntArray, IntArray]:
    """The intervals of the spans that were read: span, low and high in non-blank characters."""
    if kind == "document":  # a missing document is one of which nothing was read
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    low, high, (span, row) = nonblank_inside(chunks, *spans, nonblank)
    owner = question[span]
    rank = ranks_of(ranking.rows, owner, row, len(chunks))
    is_cut = (rank == reach.whole[owner] + 1) & (rank != UNRANKED)
    high = np.where(is_cut, np.minimum(high, reach.cut_nonblank[owner]), high)
    kept = (rank <= reach.whole[owner]) | (is_cut & (high > low))
    return span[kept], low[kept], high[kept]
