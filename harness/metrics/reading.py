"""What an LLM reads of a ranking: the tokens of each row, and where a budget of tokens cuts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.metrics.coverage import Reach
from harness.metrics.intervals import expand
from harness.metrics.nonblank import NonblankOffsets
from harness.metrics.operating_point import OperatingPoint
from harness.records import Chunks, IntArray, Ranking
from harness.text.tokens import TokenMap

# So many table cells at a time: the work stays inside a few tens of megabytes.
_BLOCK_CELLS = 2_000_000


def tokens_read(chunks: Chunks, rows: IntArray) -> IntArray:
    """int64 (questions, depth): tokens read once each row of a ranking of chunks has been read in full.

    A row that lies wholly inside the union of earlier rows costs nothing; what rows share is otherwise paid
    again. -1 rows cost nothing.
    """
    costs = np.concatenate((chunks.tokens, [0]))[rows]
    if _chunks_overlap(chunks) or _repeats(rows):
        costs[_already_read(chunks, rows)] = 0
    return np.cumsum(costs, axis=1, dtype=np.int64)


def reach_of_k(questions: int, k: int) -> Reach:
    """The first ``k`` rows, in full."""
    nothing = np.full(questions, -1, dtype=np.int64)
    return Reach(np.full(questions, k, dtype=np.int64), nothing, nothing)


def fills(chunks: Chunks, ranking: Ranking, budget: int) -> bool:
    """True when a ranking of returned chunks fills ``budget`` for every question, or holds all rows."""
    if ranking.depth >= len(chunks):
        return True
    if not ranking.depth:
        return False
    exhausted = ranking.rows[:, -1] < 0
    return bool((tokens_read(chunks, ranking.rows[~exhausted])[:, -1] >= budget).all())


def rows_within(budget: int, tokens: IntArray) -> IntArray:
    """int64 (questions,): so many rows fit into ``budget`` in full; ``tokens`` as from ``tokens_read``."""
    counts: IntArray = np.count_nonzero(tokens <= budget, axis=1).astype(np.int64)
    return counts


def cut_at(
    budget: int, tokens: IntArray, rows: IntArray, chunks: Chunks, maps: Sequence[TokenMap]
) -> IntArray:
    """int64 (questions,): where the first row that does not fit into ``budget`` is cut; -1 where none is.

    A character offset in the row's document. ``tokens`` is what ``tokens_read`` gave for ``rows``;
    ``maps[d]`` says where the tokens of document ``d`` start.
    """
    whole, left = rows_within(budget, tokens), tokens_left(budget, tokens)
    cut = np.full(len(rows), -1, dtype=np.int64)
    partly = np.nonzero((whole < rows.shape[1]) & (left > 0))[0]
    row = rows[partly, whole[partly]]
    pieces = zip(chunks.doc[row].tolist(), chunks.start[row].tolist(), left[partly].tolist(), strict=True)
    offsets = [maps[doc].cut(start, count) for doc, start, count in pieces]
    cut[partly] = np.minimum(np.array(offsets, dtype=np.int64), chunks.end[row])
    return cut


def tokens_left(budget: int, tokens: IntArray) -> IntArray:
    """int64 (questions,): tokens of ``budget`` that the rows which fit into it leave."""
    before = np.concatenate((np.zeros((len(tokens), 1), np.int64), tokens), axis=1)
    left: IntArray = budget - before[np.arange(len(tokens)), rows_within(budget, tokens)]
    return left


def rows_back(point: OperatingPoint, tokens: IntArray) -> IntArray:
    """int64 (questions,): so many rows come back within the budget of ``point``, one that is cut included."""
    if point.context_budget is None:
        return np.full(len(tokens), point.k, dtype=np.int64)
    whole, left = rows_within(point.context_budget, tokens), tokens_left(point.context_budget, tokens)
    counts: IntArray = whole + ((whole < tokens.shape[1]) & (left > 0) & (point.last_row == "cut"))
    return counts


def within_budget(
    point: OperatingPoint, ranking: Ranking, chunks: Chunks, maps: Sequence[TokenMap]
) -> IntArray:
    """int64 (questions, depth): where each row of a ranking ends, -1 if it is not within the budget.

    A row that lies wholly inside earlier rows does not come back.
    """
    budget, rows = point.context_budget or 0, ranking.rows
    tokens = tokens_read(chunks, rows)
    whole = rows_within(budget, tokens)
    is_back = (np.arange(ranking.depth) < whole[:, None]) & (np.diff(tokens, axis=1, prepend=0) > 0)
    ends = np.where(is_back, np.append(chunks.end, -1)[rows], -1)
    if point.last_row == "cut":
        cut = cut_at(budget, tokens, rows, chunks, maps)
        partly = np.nonzero(cut >= 0)[0]
        ends[partly, whole[partly]] = cut[partly]
    return ends


def reach_of_budget(
    budget: int, tokens: IntArray, rows: IntArray, cut: IntArray, chunks: Chunks, nonblank: NonblankOffsets
) -> Reach:
    """``budget`` tokens: rows in full while they fit, then the next row up to ``cut`` (-1: not at all)."""
    whole = rows_within(budget, tokens)
    cut_nonblank = np.full(len(rows), -1, dtype=np.int64)
    partly = np.nonzero(cut >= 0)[0]
    row = rows[partly, whole[partly]]
    doc = chunks.doc[row]
    before_cut = nonblank.before(doc, cut[partly])
    is_read = before_cut > nonblank.before(doc, chunks.start[row])
    cut_nonblank[partly] = np.where(is_read, before_cut, -1)
    return Reach(whole, cut, cut_nonblank)


def _chunks_overlap(chunks: Chunks) -> bool:
    same = chunks.doc[1:] == chunks.doc[:-1]
    return bool(np.any(same & (chunks.start[1:] < chunks.end[:-1])))


def _repeats(rows: IntArray) -> bool:
    """Whether a row stands twice in one ranking, as the retriever of somebody else may return it."""
    ordered = np.sort(rows, axis=1)
    return bool(np.any((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)))


def _already_read(chunks: Chunks, rows: IntArray) -> npt.NDArray[np.bool_]:
    """For each row of a ranking, bool (questions, depth): it lies inside the union of the rows above it."""
    stride = 1 + int(chunks.end.max(initial=0))
    low, high = chunks.doc * stride + chunks.start, chunks.doc * stride + chunks.end
    borders = np.unique(np.concatenate((low, high)))
    first, last = np.searchsorted(borders, low), np.searchsorted(borders, high)
    known = np.zeros(rows.shape, dtype=np.bool_)
    block = max(1, _BLOCK_CELLS // max(len(borders), rows.shape[1], 1))
    for begin in range(0, len(rows), block):
        known[begin : begin + block] = _known_in_block(rows[begin : begin + block], first, last, len(borders))
    return known


def _known_in_block(rows: IntArray, first: IntArray, last: IntArray, segments: int) -> npt.NDArray[np.bool_]:
    """``_already_read`` for some questions.

    Row ``r`` holds the segments ``first[r] : last[r]`` of the text.
    """
    question, column = np.nonzero(rows >= 0)
    row = rows[question, column]
    owner, segment = expand(first[row], last[row])
    cell = question[owner] * segments + segment
    # Every segment gets the rank at which it is first read: the last write stays, so the best rank is written
    # last.
    read_at = np.empty(len(rows) * segments, dtype=np.int64)
    read_at[cell[::-1]] = column[owner][::-1]
    known = np.zeros(rows.shape, dtype=np.bool_)
    if len(row):
        starts = np.concatenate(([0], np.cumsum(last[row] - first[row])[:-1]))
        known[question, column] = np.maximum.reduceat(read_at[cell], starts) < column
    return known
