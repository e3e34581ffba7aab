"""Scores of every row into rankings, for retrievers that score all rows of a question at once.

A score of 0 says that the row does not come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from harness.records import Float32Array, IntArray, Ranking


def of_groups(scores: Float32Array, groups: IntArray) -> Float32Array:
    """The score of every group of rows: that of its best row; 0 without rows.

    ``groups``: offsets as in ``Chunks.doc_rows``.
    """
    best = np.zeros(len(groups) - 1, np.float32)
    filled = np.diff(groups) > 0
    if filled.any():
        best[filled] = np.maximum.reduceat(scores, groups[:-1][filled])
    return best


def ranking(scored: Iterable[Float32Array], questions: int, depth: int) -> Ranking:
    """The ``depth`` best of each question's scores, equal ones by the smaller row.

    -1 and -inf where no more rows come back.
    """
    rows = np.full((questions, depth), -1, np.int64)
    scores = np.full((questions, depth), -np.inf, np.float32)
    for i, each in enumerate(scored):
        best = _best(each, depth)
        rows[i, : len(best)], scores[i, : len(best)] = best, each[best]
    return Ranking(rows, scores)


def first_ranks(scored: Iterable[Float32Array], relevant: Sequence[IntArray]) -> IntArray:
    """Rank of the best relevant row of each question over all rows; 0 where none comes back."""
    ranks = np.zeros(len(relevant), np.int64)
    for i, (scores, rows) in enumerate(zip(scored, relevant, strict=True)):
        if not len(rows):
            continue
        ordered = np.sort(rows)
        row = ordered[np.argmax(scores[ordered])]
        if scores[row] > 0:
            before = np.count_nonzero(scores > scores[row]) + np.count_nonzero(scores[:row] == scores[row])
            ranks[i] = 1 + before
    return ranks


def _best(scores: Float32Array, depth: int) -> IntArray:
    found = np.flatnonzero(scores > 0)
    if 0 < depth < len(found):
        least = np.partition(scores[found], len(found) - depth)[len(found) - depth]
        found = found[scores[found] >= least]
    return found[np.argsort(-scores[found], kind="stable")][:depth]
