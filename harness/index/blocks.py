"""Scores of all rows (or groups of rows) block by block, and ranks by counting what scores above."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.records import Float32Array, IntArray

# The first block is small, so that most of the others need only be compared with what it gave.
FIRST_COLUMNS = 1024


class Columns(NamedTuple):
    """What is ranked: *items*, which are rows or groups of rows.

    ``item`` int64 (vectors,): the first item of each vector, -1 for a vector that no row has. A vector that
    has more items gives them in ``more_item``, and itself in ``more_vector`` (ascending), int64 (others,)
    both. ``repeats``: an item may have more than one vector; it scores as the best.
    """

    item: IntArray
    more_vector: IntArray
    more_item: IntArray
    repeats: bool


class ScoreBlock(NamedTuple):
    """Scores float32 (queries, columns) and the item of each column. Overwritten by the next block.

    ``first``: the vector of column 0, the columns being neighbours; -1 for a block of items that share
    vectors with others.
    """

    scores: Float32Array
    items: IntArray
    first: int


def columns_of(vectors: int, vector_of_row: IntArray, groups: IntArray | None) -> Columns:
    """The items behind ``vectors``: the rows, or the groups of rows that the offsets ``groups`` bound."""
    rows = len(vector_of_row)
    item = np.arange(rows)
    if groups is not None:
        item = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
    if rows == vectors and bool((vector_of_row == np.arange(rows)).all()):
        nothing = np.zeros(0, np.int64)
        return Columns(item, nothing, nothing, _repeats(item))
    order = np.argsort(vector_of_row, kind="stable")
    vector, item = vector_of_row[order], item[order]
    fresh = np.ones(rows, bool)
    fresh[1:] = (np.diff(vector) != 0) | (np.diff(item) != 0)
    vector, item = vector[fresh], item[fresh]
    leads = np.ones(len(vector), bool)
    leads[1:] = np.diff(vector) != 0
    first = np.full(vectors, -1, np.int64)
    first[vector[leads]] = item[leads]
    repeats = groups is not None and _repeats(np.sort(item))
    return Columns(first, vector[~leads], item[~leads], repeats)


def _repeats(ascending: IntArray) -> bool:
    return bool((np.diff(ascending) == 0).any())


def blocks(
    queries: Float32Array, vectors: Float32Array, columns: Columns, largest: int, least: int = FIRST_COLUMNS
) -> Iterator[ScoreBlock]:
    """The scores of all items, at most ``largest`` columns at a time, each vector multiplied once.

    ``vectors`` may be of half precision and on disk: a block at a time is read and made float32. A vector
    without items scores -inf. Items that share a vector share its score to the last bit: a product for each
    would not promise that.
    """
    buffer = np.empty(len(queries) * largest, np.float32)
    first = 0
    while first < len(vectors):
        # Each block is at most as wide as all before it: the k-th best score of those then leaves little to
        # look at.
        last = min(first + min(largest, max(first, least)), len(vectors))
        scores = buffer[: len(queries) * (last - first)].reshape(len(queries), last - first)
        np.matmul(queries, np.asarray(vectors[first:last], np.float32).T, out=scores)
        items = columns.item[first:last]
        if (items < 0).any():
            scores[:, items < 0] = -np.inf
        yield ScoreBlock(scores, items, first)
        low, high = np.searchsorted(columns.more_vector, (first, last)).tolist()
        for start in range(low, high, largest):
            more = slice(start, min(start + largest, high))
            yield ScoreBlock(scores[:, columns.more_vector[more] - first], columns.more_item[more], -1)
        first = last


class WantedPairs(NamedTuple):
    """Pairs of a query and a vector that one of its wanted items has; int64 (pairs,) each, by vector."""

    query: IntArray
    vector: IntArray
    item: IntArray


def count_ranks(
    wanted: WantedPairs,
    scores: Float32Array,
    queries: int,
    items: int,
    columns: Columns,
    blocks: Callable[[], Iterator[ScoreBlock]],
) -> IntArray:
    """int64 (queries,): 1 + items that score above the best wanted one + equal ones before it; 0 without.

    ``scores`` float32 (pairs,) are those of ``wanted``, from a product of another shape. Should they differ
    by a bit from those in the blocks, the blocks are counted once more, with theirs.
    """
    ranks, found = _counted(wanted, scores, queries, items, columns, blocks())
    if not np.array_equal(found, scores):
        ranks, _ = _counted(wanted, found, queries, items, columns, blocks())
    return ranks


def _counted(
    wanted: WantedPairs,
    scores: Float32Array,
    queries: int,
    items: int,
    columns: Columns,
    blocks: Iterable[ScoreBlock],
) -> tuple[IntArray, Float32Array]:
    """The ranks, and the scores of the wanted pairs as they stand in the blocks."""
    order = np.lexsort((wanted.item, -scores, wanted.query))
    asked, first = np.unique(wanted.query[order], return_index=True)
    score = np.full(queries, np.inf, np.float32)
    item = np.full(queries, -1, np.int64)
    score[asked], item[asked] = scores[order[first]], wanted.item[order[first]]
    counter = _GroupCounter(queries, items) if columns.repeats else _RowCounter(queries)
    found = scores.copy()
    for block in blocks:
        counter.add(_before(block, score, item), block.items)
        if block.first >= 0:
            low, high = np.searchsorted(wanted.vector, (block.first, block.first + len(block.items)))
            column = wanted.vector[low:high] - block.first
            found[low:high] = block.scores[wanted.query[low:high], column]
    return np.where(item >= 0, 1 + counter.counts, 0), found


class _RowCounter:
    """Counts where every column is another item."""

    def __init__(self, queries: int) -> None:
        self.counts = np.zeros(queries, np.int64)

    def add(self, before: npt.NDArray[np.bool_], items: IntArray) -> None:  # noqa: ARG002 - as for groups
        self.counts += [np.count_nonzero(row) for row in before]


class _GroupCounter:
    """Counts where several columns may be one item."""

    def __init__(self, queries: int, items: int) -> None:
        self._before = np.zeros((queries, items), bool)

    def add(self, before: npt.NDArray[np.bool_], items: IntArray) -> None:
        found = np.flatnonzero(before)
        query = found // len(items)
        self._before[query, items[found - query * len(items)]] = True

    @property
    def counts(self) -> IntArray:
        return np.array([np.count_nonzero(row) for row in self._before], np.int64)


def _before(block: ScoreBlock, score: Float32Array, item: IntArray) -> npt.NDArray[np.bool_]:
    """Which columns rank before ``item``, bool (queries, columns): higher, or equal and a smaller item.

    Above the next smaller number is the same as at least this one, so one comparison does for most blocks.
    """
    behind, ahead = block.items.max() < item, block.items.min() >= item
    before = block.scores > np.where(behind, np.nextafter(score, np.float32(-np.inf)), score)[:, None]
    for query in np.flatnonzero(~behind & ~ahead).tolist():
        before[query] |= (block.scores[query] == score[query]) & (block.items < item[query])
    return before
