"""Candidates into rankings: the base of indexes that do not compare everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.errors import switch, whole
from harness.index.exact import ExactIndex
from harness.records import Float32Array, IntArray, Ranking

# So many vectors are read from disk at a time.
AT_ONCE = 65536
# So many queries at a time: the vectors of all their candidates are held at once.
_QUERIES = 32


class _CandidateRows(NamedTuple):
    """All items that come back for some queries, by query, then in their order; columns of equal length."""

    query: IntArray
    item: IntArray
    score: Float32Array
    place: IntArray


class CandidateIndex:
    """The base of an index that finds candidates for each query; only these candidates come back.

    ``candidates``: vectors at most for each query, however many rows are asked for, so a smaller depth is a
    cut. ``exact_scores``: they are ordered by exact inner products; else by what the search itself gives. A
    subclass has ``_prepare`` and ``_candidates``.
    """

    is_exact = False

    def __init__(self, candidates: int, *, exact_scores: bool) -> None:
        self._count = candidates
        self._exact_scores = exact_scores

    def build(self, vectors: Float32Array, vector_of_row: IntArray) -> None:
        """As ``Index.build``; ``vectors`` may be float16 and on disk."""
        self._vectors = vectors
        self._rows = np.argsort(vector_of_row, kind="stable")
        self._begins = np.searchsorted(vector_of_row[self._rows], np.arange(len(vectors) + 1))
        self._prepare(vectors)

    def search(self, queries: Float32Array, depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best rows (or groups) among the candidates; -1 behind the last."""
        rows = np.full((len(queries), depth), -1, np.int64)
        scores = np.full((len(queries), depth), -np.inf, np.float32)
        for found in self._found(queries, groups):
            is_within = found.place < depth
            where = (found.query[is_within], found.place[is_within])
            rows[where], scores[where] = found.item[is_within], found.score[is_within]
        return Ranking(rows, scores)

    def first_ranks(
        self, queries: Float32Array, relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row among all that come back; 0 where none of them does."""
        ranks = np.zeros(len(queries), np.int64)
        items = max((int(rows.max()) for rows in relevant if len(rows)), default=-1) + 1
        wanted = np.concatenate([i * items + rows for i, rows in enumerate(relevant)] or [ranks])
        for found in self._found(queries, groups):
            is_wanted = (found.item < items) & np.isin(found.query * items + found.item, wanted)
            # From the last to the first, so that the best of a query stays.
            query, place = found.query[is_wanted][::-1], found.place[is_wanted][::-1]
            ranks[query] = place + 1
        return ranks

    def _prepare(self, vectors: Float32Array) -> None:
        """Builds what is searched."""
        raise NotImplementedError

    def _candidates(self, queries: Float32Array, count: int) -> tuple[IntArray, Float32Array]:
        """Positions of vectors, int64 (queries, count), -1 behind the last; their scores."""
        raise NotImplementedError

    def _found(self, queries: Float32Array, groups: IntArray | None) -> Iterator[_CandidateRows]:
        count = min(self._count, len(self._vectors))
        for first in range(0, len(queries) if count else 0, _QUERIES):
            some = queries[first : first + _QUERIES]
            vector, score = self._candidates(some, count)
            if self._exact_scores:
                score = self._scored(some, vector)
            query, column = np.nonzero(vector >= 0)
            yield self._ordered(query, vector[query, column], score[query, column], groups, first)

    def _scored(self, queries: Float32Array, vector: IntArray) -> Float32Array:
        """The exact inner products, each summed in the same order, so equal vectors score equally."""
        needed, place = np.unique(vector, return_inverse=True)
        vectors = np.asarray(self._vectors[np.maximum(needed, 0)], np.float32)
        score: Float32Array = np.einsum("qd,qcd->qc", queries, vectors[place.reshape(vector.shape)])
        return score

    def _ordered(
        self, query: IntArray, vector: IntArray, score: Float32Array, groups: IntArray | None, first: int
    ) -> _CandidateRows:
        """The rows (or groups) behind the vectors, best first, equal scores by the smaller one."""
        sizes = self._begins[vector + 1] - self._begins[vector]
        source = np.repeat(np.arange(len(vector)), sizes)
        within = np.arange(len(source)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        item = self._rows[self._begins[vector][source] + within]
        if groups is not None:
            item = np.searchsorted(groups, item, side="right") - 1
        query, score = query[source], score[source]
        order = np.lexsort((item, -score, query))
        query, item, score = query[order], item[order], score[order]
        if groups is not None:
            _, best = np.unique(query * len(groups) + item, return_index=True)
            best.sort()
            query, item, score = query[best], item[best], score[best]
        begins = np.searchsorted(query, query)
        return _CandidateRows(query + first, item, score, np.arange(len(query)) - begins)


class CodedIndex(CandidateIndex):
    """The base of an index that compares all vectors by small codes of them. A subclass has ``_coded``.

    ``candidates``: the best vectors by their codes; no more ever come back. ``rescore``: they are put in the
    order of the full vectors, which may lie on disk. Memory is saved and no time: a search is no faster than
    exact. Raises ``SettingError`` for a value that is not allowed.
    """

    def __init__(self, candidates: int = 200, *, rescore: bool = True) -> None:
        super().__init__(
            whole(candidates, "index.candidates", 1, of="vectors"),
            exact_scores=switch(rescore, "index.rescore"),
        )

    def _coded(self, vectors: Float32Array) -> Any:
        """The codes of all vectors, read in slices as rows of numbers."""
        raise NotImplementedError

    def _prepare(self, vectors: Float32Array) -> None:
        self._search = ExactIndex()
        self._search.build(self._coded(vectors), np.arange(len(vectors)))

    def _candidates(self, queries: Float32Array, count: int) -> tuple[IntArray, Float32Array]:
        return self._search.search(queries, count)
