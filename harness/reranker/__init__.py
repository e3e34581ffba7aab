"""Rerankers, and the new order of a ranking.

A reranker scores texts for a question. The first ``depth`` chunks of a ranking are put into the order of
these scores; equal scores keep the retriever's order, and the rows below stay below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from harness.records import Float32Array, IntArray, Ranking


class Reranker(Protocol):
    """A model that reads question and text together."""

    @property
    def depth(self) -> int:
        """How many chunks of each ranking are read; 0 changes nothing."""

    def identity(self) -> Mapping[str, Any]:
        """All that changes a score, as JSON values. Loads no weights. Raises ``ModelError``."""

    def scores(self, question: str, texts: Sequence[str]) -> Float32Array:
        """How well each text answers the question: finite, float32 (texts,), the higher the better.

        A method ``truncated(question, texts)`` may say how many of the texts can't be read to their end.
        """


def reordered(ranking: Ranking, scores: Float32Array) -> Ranking:
    """``ranking`` with its first rows in the order of ``scores``, (questions, first rows); a stable sort.

    Rows of -1 stay behind. What was not read stays below in its order, each 1 below what stands before it:
    the retriever's scores are on another scale.
    """
    read = scores.shape[1]
    rows = ranking.rows.copy()
    missing = rows < 0
    falling = np.where(missing[:, :read], -np.inf, scores)
    order = np.argsort(-falling, axis=1, kind="stable")
    rows[:, :read] = np.take_along_axis(rows[:, :read], order, axis=1)
    top = np.take_along_axis(falling, order, axis=1)
    return Ranking(rows, _extended(top, ranking.depth, missing))


def of_groups(chunks: Ranking, whole: Ranking, groups: IntArray, depth: int) -> Ranking:
    """The groups of the reranked ``chunks`` first, each at its best chunk; then the others as in ``whole``.

    ``groups``: offsets of chunk rows, as in ``Chunks.doc_rows``; the result is cut at ``depth``.
    """
    rows = np.full((len(chunks.rows), depth), -1, np.int64)
    top = np.full((len(chunks.rows), depth), np.nan, np.float32)
    for i, found in enumerate(chunks.rows):
        there = found >= 0
        read, first = np.unique(np.searchsorted(groups, found[there], side="right") - 1, return_index=True)
        order = np.argsort(first)
        others = whole.rows[i][~np.isin(whole.rows[i], read) & (whole.rows[i] >= 0)]
        ordered = np.concatenate([read[order], others])[:depth]
        scored = chunks.scores[i][there][first[order]][:depth]
        rows[i, : len(ordered)], top[i, : len(scored)] = ordered, scored
    return Ranking(rows, _extended(top, depth, rows < 0))


def _extended(top: Float32Array, depth: int, missing: np.ndarray) -> Float32Array:
    """Scores of all columns: ``top``, then one less at each step; -inf where ``missing``."""
    scores = np.full((len(top), depth), np.nan, np.float32)
    scores[:, : top.shape[1]] = top
    scores[missing] = -np.inf
    known = np.isfinite(scores)
    count = known.sum(axis=1, keepdims=True)
    least = np.min(np.where(known, scores, np.inf), axis=1, keepdims=True, initial=np.inf)
    least[count == 0] = 0
    steps = least - (np.arange(depth) - count + 1)
    return np.where(np.isnan(scores), steps, scores).astype(np.float32)
