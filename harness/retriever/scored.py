"""Scores of rows, and lists of rows in order, into rankings.

A score of 0 says that the row does not come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from harness.records import Float32Array, FloatArray, IntArray, Ranking


class ScoredRetriever:
    """Base of the retrievers that score all rows of a question at once and read neither model nor index."""

    uses_model = False
    uses_index = False

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best chunk rows of each question, or groups by their best row.

        Equal scores stand by the smaller row; -1 where no more rows come back.
        """
        lists = []
        for question in questions:
            scores = self._grouped(question, groups)
            best = _best(scores, depth)
            lists.append((best, scores[best]))
        return ranking(lists, depth)

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row of each question over all rows; 0 where none comes back."""
        ranks = np.zeros(len(relevant), np.int64)
        for i, (question, rows) in enumerate(zip(questions, relevant, strict=True)):
            if len(rows):
                ranks[i] = _best_rank(self._grouped(question, groups), np.sort(rows))
        return ranks

    def encoded(self) -> None:
        """None: no model read the chunks."""

    def _scores(self, question: str) -> Float32Array:
        """float32 (rows,): the score of every row, at least 0."""
        raise NotImplementedError

    def _grouped(self, question: str, groups: IntArray | None) -> Float32Array:
        scores = self._scores(question)
        return scores if groups is None else of_groups(scores, groups)


def of_groups(scores: Float32Array, groups: IntArray) -> Float32Array:
    """The score of every group of rows: that of its best row; 0 without rows.

    ``groups``: offsets as in ``Chunks.doc_rows``.
    """
    best = np.zeros(len(groups) - 1, np.float32)
    filled = np.diff(groups) > 0
    if filled.any():
        best[filled] = np.maximum.reduceat(scores, groups[:-1][filled])
    return best


def ranking(lists: Sequence[tuple[IntArray, FloatArray | Float32Array]], depth: int) -> Ranking:
    """The first ``depth`` rows of each list of rows and scores, best first; -1 and -inf where a list ends."""
    rows = np.full((len(lists), depth), -1, np.int64)
    scores = np.full((len(lists), depth), -np.inf, np.float32)
    for i, (found, given) in enumerate(lists):
        reach = min(depth, len(found))
        rows[i, :reach], scores[i, :reach] = found[:reach], given[:reach]
    return Ranking(rows, scores)


def first_in_lists(lists: Iterable[IntArray], relevant: Sequence[IntArray]) -> IntArray:
    """int64 (lists,): rank of the first row of each list that is among its relevant ones; 0 where none is."""
    ranks = np.zeros(len(relevant), np.int64)
    for i, (found, rows) in enumerate(zip(lists, relevant, strict=True)):
        positions = np.flatnonzero(np.isin(found, rows))
        ranks[i] = positions[0] + 1 if len(positions) else 0
    return ranks


def first_of_each(values: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct values in the order in which they first appear, and where each does."""
    _, first = np.unique(values, return_index=True)
    first = np.sort(first)
    return values[first], first


def _best(scores: Float32Array, depth: int) -> IntArray:
    found = np.flatnonzero(scores > 0)
    if 0 < depth < len(found):
        least = np.partition(scores[found], len(found) - depth)[len(found) - depth]
        found = found[scores[found] >= least]
    return found[np.argsort(-scores[found], kind="stable")][:depth]


def _best_rank(scores: Float32Array, rows: IntArray) -> int:
    """The rank of the best of ``rows``, which ascend; 0 where it does not come back."""
    row = rows[np.argmax(scores[rows])]
    if scores[row] <= 0:
        return 0
    return int(1 + np.count_nonzero(scores > scores[row]) + np.count_nonzero(scores[:row] == scores[row]))
