"""What an LLM reads of a ranking: the tokens of each row, and where a budget of tokens cuts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.metrics.coverage import Reach
from harness.metrics.intervals import expand
from harness.metrics.nonblank import NonblankOffsets
from harness.records import Chunks, IntArray
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


def reach_of_budget(
    budget: int,
    tokens: IntArray,
    rows: IntArray,
    chunks: Chunks,
    maps: Sequence[TokenMap],
    nonblank: NonblankOffsets,
) -> Reach:
    """Exactly ``budget`` tokens: rows in full while they fit, then the start of the row that does not.

    ``tokens`` is what ``tokens_read`` gave for ``rows``; ``maps[d]`` says where the tokens of document ``d``
    start.
    """
    questions, depth = rows.shape
    whole = np.count_nonzero(tokens <= budget, axis=1).astype(np.int64)
    before = np.zeros(questions, dtype=np.int64)
    asked = np.arange(questions)
    some = whole > 0
    before[some] = tokens[asked[some], whole[some] - 1]
    cut = np.full(questions, -1, dtype=np.int64)
    partly = asked[(whole < depth) & (before < budget)]
    row = rows[partly, whole[partly]]
    doc, start = chunks.doc[row], chunks.start[row]
    left = (budget - before)[partly]
    offsets = [maps[d].cut(s, n) for d, s, n in zip(doc.tolist(), start.tolist(), left.tolist(), strict=True)]
    cut[partly] = np.minimum(np.array(offsets, dtype=np.int64), chunks.end[row])
    cut_nonblank = np.full(questions, -1, dtype=np.int64)
    before_cut = nonblank.before(doc, cut[partly])
    cut_nonblank[partly] = np.where(before_cut > nonblank.before(doc, start), before_cut, -1)
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
