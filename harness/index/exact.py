"""Exact search: every inner product, in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.errors import SettingError
from harness.records import Float32Array, IntArray, Ranking


class ExactIndex:
    """All inner products of unit vectors (so: cosines), computed for a block of questions at a time.

    ``block_mb`` bounds the scores held at once, in MiB; memory grows with the rows, never with questions x rows.
    """

    def __init__(self, block_mb: float = 64) -> None:
        if block_mb <= 0:
            raise SettingError(
                f"index.block_mb is {block_mb} MiB; it must be above 0 (64 is usual).", key="index.block_mb"
            )
        self._block_bytes = block_mb * 2**20
        self._vectors: Float32Array = np.zeros((0, 0), np.float32)
        self._vector_of_row: IntArray = np.zeros(0, np.int64)
        self._is_identity = True

    def build(self, vectors: Float32Array, vector_of_row: IntArray) -> None:
        """Keeps ``vectors`` float32 (unique, dim); row ``i`` has the vector ``vector_of_row[i]``."""
        self._vectors = vectors
        self._vector_of_row = vector_of_row
        self._is_identity = len(vectors) == len(vector_of_row) and bool(
            (vector_of_row == np.arange(len(vectors))).all()
        )

    def search(self, queries: Float32Array, depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best rows (or groups) of each query; see ``harness.index``."""
        rows = np.full((len(queries), depth), -1, np.int64)
        scores = np.full((len(queries), depth), -np.inf, np.float32)
        for first, block in self._blocks(queries, groups):
            for i, column in enumerate(block, first):
                best = _best(column, depth)
                rows[i, : len(best)] = best
                scores[i, : len(best)] = column[best]
        return Ranking(rows, scores)

    def first_ranks(
        self, queries: Float32Array, relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row: 1 + rows that score above it + equal rows before it. No sort is needed."""
        ranks = np.zeros(len(queries), np.int64)
        asked = np.flatnonzero([len(rows) > 0 for rows in relevant])
        for first, block in self._blocks(queries[asked], groups):
            for i, column in zip(asked[first:], block, strict=False):
                wanted = np.sort(relevant[i])
                row = wanted[np.argmax(column[wanted])]
                ranks[i] = (
                    1 + np.count_nonzero(column > column[row]) + np.count_nonzero(column[:row] == column[row])
                )
        return ranks

    def megabytes(self) -> float:
        """Size of the vectors and of the row table, in MB (10^6 bytes)."""
        return (self._vectors.nbytes + (0 if self._is_identity else self._vector_of_row.nbytes)) / 1e6

    def _blocks(self, queries: Float32Array, groups: IntArray | None) -> Iterator[tuple[int, Float32Array]]:
        """Scores float32 (queries in block, rows or groups) with the position of the block's first query."""
        width = max(1, len(self._vector_of_row) + len(self._vectors))
        size = max(1, int(self._block_bytes // (4 * width)))
        for first in range(0, len(queries), size):
            scores = queries[first : first + size] @ self._vectors.T
            if not self._is_identity:
                # Equal texts share one vector and so one score, to the last bit: a product per row would not promise that.
                scores = scores[:, self._vector_of_row]
            yield first, scores if groups is None else _best_of_groups(scores, groups)


def _best_of_groups(scores: Float32Array, groups: IntArray) -> Float32Array:
    """The best score within each group; -inf for an empty one. float32 (queries, groups)."""
    best = np.full((len(scores), len(groups) - 1), -np.inf, np.float32)
    filled = np.flatnonzero(groups[:-1] < groups[1:])
    if len(filled):
        best[:, filled] = np.maximum.reduceat(scores, groups[filled], axis=1)
    return best


def _best(scores: Float32Array, depth: int) -> IntArray:
    """Positions of the ``depth`` best finite scores: score descending, equal scores by the smaller position."""
    if depth < len(scores):
        threshold = np.partition(scores, len(scores) - depth)[len(scores) - depth]
        above = np.flatnonzero(scores > threshold)
        equal = np.flatnonzero(scores == threshold)[: depth - len(above)]
        found = np.concatenate([above, equal])
    else:
        found = np.arange(len(scores))
    found = found[scores[found] > -np.inf]
    order: IntArray = found[np.lexsort((found, -scores[found]))].astype(np.int64)
    return order
