"""A retriever with a reranker behind it, as one retriever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.records import Chunks, Encoded, FloatArray, IntArray, Kind, Question, Ranking
from harness.reranker import of_groups, reordered
from harness.retriever import LATENCY_DEPTH, Depth, Prepared, Searcher
from harness.store.reranker_scores import CachedReranker
from harness.text.tokens import TokenMap


def reranked(first_stage: Searcher, reranker: CachedReranker) -> Searcher:
    """The first stage with the reranker behind it.

    The first stage itself where the reranker reads nothing.
    """
    return RerankedRetriever(first_stage, reranker) if reranker.depth else first_stage


class RerankedRetriever:
    """Ranks as ``first_stage`` does, the first ``reranker.depth`` chunks in the reranker's order.

    However few rows are asked for, that many are read: a hit at rank 40 may become the first. Groups of
    chunks (those of a document, or of a parent) are ranked by their best chunk after reranking; those without
    a chunk among the first stay below in the first stage's order.
    """

    def __init__(self, first_stage: Searcher, reranker: CachedReranker) -> None:
        self._first_stage = first_stage
        self._reranker = reranker
        self.uses_model = first_stage.uses_model

    def prepare(
        self,
        chunks: Chunks,
        tokens: Sequence[TokenMap],
        questions: Mapping[Kind, Sequence[Question]],
        ks: Sequence[int],
        metrics: Depth,
    ) -> Prepared:
        """What the first stage ranks. Raises ``ModelError`` when the reranker's model can't be found."""
        self._reranker.identity()
        prepared = self._first_stage.prepare(chunks, tokens, questions, ks, metrics)
        self._chunks = prepared.chunks
        self._first = min(self._reranker.depth, len(self._chunks))
        return prepared

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best chunk rows of each question, or groups.

        Scores are the reranker's, then lower by 1 for each row.
        """
        if groups is not None:
            whole = self._first_stage.search(questions, depth, groups)
            return of_groups(self._read(questions, self._first), whole, groups, depth)
        ranking = self._read(questions, max(depth, self._first))
        return Ranking(ranking.rows[:, :depth], ranking.scores[:, :depth])

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """The rank among the rows that were read, else the first stage's, which reranking does not change."""
        ranks = self._first_stage.first_ranks(questions, relevant, groups)
        ranking = self._read(questions, self._first)
        if groups is not None:
            nothing = np.zeros((len(questions), 0))
            whole = Ranking(nothing.astype(np.int64), nothing.astype(np.float32))
            ranking = of_groups(ranking, whole, groups, self._first)
        for i, rows in enumerate(relevant):
            found = np.flatnonzero(np.isin(ranking.rows[i], rows))
            if len(found):
                ranks[i] = found[0] + 1
        return ranks

    def encoded(self) -> Encoded | None:
        """What the first stage's model read of each chunk row."""
        return self._first_stage.encoded()

    def measurements(self) -> Mapping[str, float]:
        """Those of the first stage."""
        return self._first_stage.measurements()

    def search_ms(self, questions: Sequence[str]) -> FloatArray:
        """Milliseconds of searching and reranking for each question alone.

        nan for a question that was never ranked.
        """
        reading = [self._reranker.milliseconds(question) for question in questions]
        return self._first_stage.search_ms(questions) + np.array(reading, np.float64)

    def answer(self, question: str, depth: int = LATENCY_DEPTH) -> list[str]:
        """The texts of the rows in the reranker's order, best first; nothing is read from the cache."""
        texts = self._first_stage.answer(question, max(depth, self._reranker.depth))
        scores = self._reranker.live(question, texts[: self._reranker.depth])
        order = [*np.argsort(-scores, kind="stable").tolist(), *range(len(scores), len(texts))]
        return [texts[i] for i in order][:depth]

    def _read(self, questions: Sequence[str], depth: int) -> Ranking:
        """The ranking of chunks with its first rows in the reranker's order."""
        ranking = self._first_stage.search(questions, depth)
        rows = ranking.rows[:, : self._first]
        given = self._reranker.scores(questions, [self._texts(some) for some in rows])
        scores = np.full(rows.shape, -np.inf, np.float32)
        for i, some in enumerate(given):
            scores[i, : len(some)] = some
        return reordered(ranking, scores)

    def _texts(self, rows: IntArray) -> list[str]:
        """What was indexed: a title before the text is read too."""
        return list(self._chunks.embed_texts(rows[rows >= 0]))
