"""Exact search: every inner product, in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.errors import SettingError
from harness.index.best import Best
from harness.index.blocks import Columns, ScoreBlock, WantedPairs, blocks, columns_of, count_ranks
from harness.records import Float32Array, IntArray, Ranking

# So many queries at a time: enough for a product at full speed.
_QUERIES = 1024


class ExactIndex:
    """All inner products of unit vectors (cosines), in blocks of questions and vectors.

    ``block_mb`` bounds the scores held at once, in MiB. What a search needs above the vectors is a small
    multiple of it, whatever the number of questions, rows or the depth. Vectors may lie on disk
    (``numpy.memmap``) and be of half precision: they are read in blocks, and products are summed in float32.
    """

    is_exact = True

    def __init__(self, block_mb: float = 32) -> None:
        if block_mb <= 0:
            raise SettingError(
                f"index.block_mb is {block_mb} MiB; it must be above 0 (32 is usual).", key="index.block_mb"
            )
        self._block_scores = max(1, int(block_mb * 2**18))
        self.build(np.zeros((0, 0), np.float32), np.zeros(0, np.int64))

    def build(self, vectors: Float32Array, vector_of_row: IntArray) -> None:
        """As ``Index.build``; ``vectors`` may be float16 and on disk."""
        self._vectors = vectors
        self._vector_of_row = vector_of_row
        self._rows = columns_of(len(vectors), vector_of_row, None)

    def search(self, queries: Float32Array, depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best rows (or groups) of each query; see ``harness.index``."""
        rows = np.full((len(queries), depth), -1, np.int64)
        scores = np.full((len(queries), depth), -np.inf, np.float32)
        columns = self._columns(groups)
        reach = min(depth, self._items(groups))
        if not reach:
            return Ranking(rows, scores)
        for part in self._parts(len(queries), 4 * reach):
            best = Best(len(queries[part]), reach, repeats=columns.repeats)
            for block in self._blocks(queries[part], columns):
                best.add(block)
            rows[part, :reach], scores[part, :reach] = best.ranking()
        return Ranking(rows, scores)

    def first_ranks(
        self, queries: Float32Array, relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row: 1 + rows that score above it + equal rows before it."""
        ranks = np.zeros(len(queries), np.int64)
        asked = np.flatnonzero([len(rows) > 0 for rows in relevant])
        columns, items = self._columns(groups), self._items(groups)
        for part in self._parts(len(asked), items // 4 if columns.repeats else 1):
            some = asked[part]
            wanted = self._wanted([relevant[i] for i in some.tolist()], groups)
            ranks[some] = count_ranks(
                wanted,
                self._scores_of(queries[some], wanted),
                len(some),
                items,
                columns,
                lambda some=some: self._blocks(queries[some], columns),  # type: ignore[misc]  # a default binds the loop's value
            )
        return ranks

    def megabytes(self) -> float:
        """Size of the vectors and of the row table, in MB (10^6 bytes)."""
        shared = len(self._rows.more_item) > 0 or len(self._vectors) != len(self._vector_of_row)
        return (self._vectors.nbytes + (self._vector_of_row.nbytes if shared else 0)) / 1e6

    def _columns(self, groups: IntArray | None) -> Columns:
        return self._rows if groups is None else columns_of(len(self._vectors), self._vector_of_row, groups)

    def _items(self, groups: IntArray | None) -> int:
        return len(self._vector_of_row) if groups is None else len(groups) - 1

    def _parts(self, queries: int, numbers: int) -> Iterator[slice]:
        """Blocks of queries, for each of which so many ``numbers`` are kept besides the scores."""
        size = max(1, min(_QUERIES, self._block_scores // max(1, numbers)))
        return (slice(first, min(first + size, queries)) for first in range(0, queries, size))

    def _blocks(self, queries: Float32Array, columns: Columns) -> Iterator[ScoreBlock]:
        return blocks(queries, self._vectors, columns, self._wide(len(queries)))

    def _wide(self, queries: int) -> int:
        """Columns of a block: both the scores and the vectors in float32 must fit."""
        return max(1, self._block_scores // max(1, queries, int(self._vectors.shape[1])))

    def _wanted(self, relevant: Sequence[IntArray], groups: IntArray | None) -> WantedPairs:
        """The relevant items' vectors."""
        query = np.repeat(np.arange(len(relevant)), [len(items) for items in relevant])
        item = row = np.concatenate([np.asarray(items, np.int64) for items in relevant] or [query])
        if groups is not None:
            sizes = groups[item + 1] - groups[item]
            row = np.repeat(groups[item] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
            query, item = np.repeat(query, sizes), np.repeat(item, sizes)
        vector = self._vector_of_row[row]
        order = np.argsort(vector, kind="stable")
        return WantedPairs(query[order], vector[order], item[order])

    def _scores_of(self, queries: Float32Array, wanted: WantedPairs) -> Float32Array:
        """The scores of the pairs, float32 (pairs,)."""
        vectors, column = np.unique(wanted.vector, return_inverse=True)
        scores = np.empty(len(column), np.float32)
        wide = self._wide(len(queries))
        for first in range(0, len(vectors), wide):
            some = np.asarray(self._vectors[vectors[first : first + wide]], np.float32)
            low, high = np.searchsorted(column, (first, first + wide))
            scores[low:high] = (queries @ some.T)[wanted.query[low:high], column[low:high] - first]
        return scores
