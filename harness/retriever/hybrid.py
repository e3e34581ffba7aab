"""Two searches as one: by meaning (vectors) and by words (BM25), their lists fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.errors import SettingError, number, share, whole
from harness.records import Chunks, Encoded, Float32Array, FloatArray, IntArray, Ranking
from harness.retriever import Encoder, VectorIndex
from harness.retriever.bm25 import Bm25Retriever
from harness.retriever.dense import DenseRetriever
from harness.retriever.scored import first_in_lists, first_of_each, ranking

FUSIONS = ("rrf", "weighted")


class HybridRetriever:
    """Orders the ``depth`` best chunks of the dense search and of BM25 by a score made of both.

    ``weight`` is the weight of the dense list, 1 - ``weight`` that of BM25. A list gives to a chunk on it:

    - ``rrf``: 1 / (``k0`` + rank), rank from 1: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009),
      which needs no comparable scores.
    - ``weighted``: the score stretched so that the list's best is 1 and its last 0 (1 for all where all are
      equal).

    A chunk on neither list never comes back and has no rank, so a ranking ends after at most 2 * ``depth``
    chunks. A group scores as its best row. ``words``: settings of ``Bm25Retriever``. Raises ``SettingError``
    for a value that is not allowed.
    """

    uses_model = True
    uses_index = True
    later = Bm25Retriever.later

    def __init__(
        self, fusion: str = "rrf", weight: float = 0.5, k0: float = 60, depth: int = 100, **words: Any
    ) -> None:
        if fusion not in FUSIONS:
            raise SettingError(
                f"retriever.fusion is {fusion}; allowed are {', '.join(FUSIONS)}.", key="retriever.fusion"
            )
        self._weight = share(weight, "retriever.weight")
        self._k0 = number(k0, "retriever.k0")
        self._depth = whole(depth, "retriever.depth", 1, of="chunks")
        self._fusion = fusion
        self._dense, self._words = DenseRetriever(), Bm25Retriever(**words)

    def build(self, chunks: Chunks, model: Encoder, index: VectorIndex) -> None:
        """Builds both searches."""
        self._dense.build(chunks, model, index)
        self._words.build(chunks, model, index)

    def problems(self, chunks: Chunks, questions: Sequence[str]) -> dict[str, tuple[int, str]]:
        """What the lexical search can't find."""
        return self._words.problems(chunks, questions)

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best chunk rows of each question by the fused score, or groups by their best row."""
        return ranking(self._fused(questions, groups), depth)

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row on the fused list; 0 where neither search finds one."""
        return first_in_lists((found for found, _ in self._fused(questions, groups)), relevant)

    def encoded(self) -> Encoded:
        """What the model read of each chunk row; the vectors are left out."""
        return self._dense.encoded()

    def measurements(self) -> Mapping[str, float]:
        """``embed_seconds``, and ``index_seconds`` and ``index_mb`` of both searches together."""
        dense, words = self._dense.measurements(), self._words.measurements()
        return {name: value + words.get(name, 0.0) for name, value in dense.items()}

    def _fused(
        self, questions: Sequence[str], groups: IntArray | None
    ) -> list[tuple[IntArray, Float32Array]]:
        """All rows (or groups) that come back for each question, best first, with their scores."""
        lists = (self._dense.search(questions, self._depth), self._words.search(questions, self._depth))
        says = (self._weight, 1 - self._weight)
        fused = []
        for i in range(len(questions)):
            parts = [(ranking.rows[i], ranking.scores[i]) for ranking in lists]
            parts = [(rows[rows >= 0], scores[rows >= 0]) for rows, scores in parts]
            found, place = np.unique(np.concatenate([rows for rows, _ in parts]), return_inverse=True)
            given = [say * self._given(scores) for say, (_, scores) in zip(says, parts, strict=True)]
            # Sums are compared as they are shown, so that what looks equal is ordered by the smaller row.
            score = np.bincount(place, np.concatenate(given), len(found)).astype(np.float32)
            order = np.lexsort((found, -score))
            found, score = found[order], score[order]
            if groups is not None:
                found, first = first_of_each(np.searchsorted(groups, found, side="right") - 1)
                score = score[first]
            fused.append((found, score))
        return fused

    def _given(self, scores: Float32Array) -> FloatArray:
        """What a list gives to each of its rows, best first; float64 in 0 to 1."""
        if self._fusion == "rrf":
            given: FloatArray = 1 / (self._k0 + np.arange(1, len(scores) + 1))
            return given
        if not len(scores) or scores[0] == scores[-1]:
            return np.ones(len(scores))
        wide = scores.astype(np.float64)
        stretched: FloatArray = (wide - wide[-1]) / (wide[0] - wide[-1])
        return stretched
