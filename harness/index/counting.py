"""Ranks by counting what scores above: no sort, however deep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.index.columns import Block, Columns
from harness.records import Float32Array, IntArray


class Wanted(NamedTuple):
    """Pairs of a query and a vector that one of its wanted items has; int64 (pairs,) each, by vector."""

    query: IntArray
    vector: IntArray
    item: IntArray


def count_ranks(
    wanted: Wanted,
    scores: Float32Array,
    queries: int,
    items: int,
    columns: Columns,
    blocks: Callable[[], Iterator[Block]],
) -> IntArray:
    """int64 (queries,): 1 + items that score above the best wanted one + equal items before it; 0 without a wanted item.

    ``scores`` float32 (pairs,) are those of ``wanted``, from a product of another shape. Should they differ by a bit from
    those in the blocks, the blocks are counted once more, with theirs.
    """
    ranks, found = _counted(wanted, scores, queries, items, columns, blocks())
    if not np.array_equal(found, scores):
        ranks, _ = _counted(wanted, found, queries, items, columns, blocks())
    return ranks


def _counted(
    wanted: Wanted,
    scores: Float32Array,
    queries: int,
    items: int,
    columns: Columns,
    blocks: Iterable[Block],
) -> tuple[IntArray, Float32Array]:
    """The ranks, and the scores of the wanted pairs as they stand in the blocks."""
    order = np.lexsort((wanted.item, -scores, wanted.query))
    asked, first = np.unique(wanted.query[order], return_index=True)
    score = np.full(queries, np.inf, np.float32)
    item = np.full(queries, -1, np.int64)
    score[asked], item[asked] = scores[order[first]], wanted.item[order[first]]
    counter = _Groups(queries, items) if columns.repeats else _Rows(queries)
    found = scores.copy()
    for block in blocks:
        counter.add(_before(block, score, item), block.items)
        if block.first >= 0:
            low, high = np.searchsorted(wanted.vector, (block.first, block.first + len(block.items)))
            column = wanted.vector[low:high] - block.first
            found[low:high] = block.scores[wanted.query[low:high], column]
    return np.where(item >= 0, 1 + counter.counts, 0), found


class _Rows:
    """Counts where every column is another item."""

    def __init__(self, queries: int) -> None:
        self.counts = np.zeros(queries, np.int64)

    def add(self, before: npt.NDArray[np.bool_], items: IntArray) -> None:  # noqa: ARG002 - as for groups
        self.counts += [np.count_nonzero(row) for row in before]


class _Groups:
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


def _before(block: Block, score: Float32Array, item: IntArray) -> npt.NDArray[np.bool_]:
    """Which columns stand before ``item`` with ``score``, bool (queries, columns): higher, or equal with a smaller item.

    Above the next smaller number is the same as at least this one, so one comparison does for most blocks.
    """
    behind, ahead = block.items.max() < item, block.items.min() >= item
    before = block.scores > np.where(behind, np.nextafter(score, np.float32(-np.inf)), score)[:, None]
    for query in np.flatnonzero(~behind & ~ahead).tolist():
        before[query] |= (block.scores[query] == score[query]) & (block.items < item[query])
    return before
