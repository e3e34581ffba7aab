"""A retriever with a reranker behind it, as one retriever: it ranks, tells first ranks and takes its time as such."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.records import Chunks, Encoded, FloatArray, IntArray, Ranking
from harness.reranker.order import of_groups, reordered
from harness.retriever.external.asking import ExternalRetriever
from harness.store.rankings import CachedRetriever
from harness.store.reranker_scores import CachedReranker


class RerankedRetriever:
    """Ranks as ``retriever`` does, the first ``reranker.depth`` chunks in the reranker's order.

    However few rows are asked for, that many are read: a hit at rank 40 may become the first. Groups of chunks (those of a document, or of
    what is handed over) are ranked by their best one after reranking; those without a chunk among the first stay below in the retriever's order.
    """

    def __init__(self, retriever: CachedRetriever | ExternalRetriever, reranker: CachedReranker) -> None:
        self._retriever = retriever
        self._reranker = reranker
        self.uses_model = retriever.uses_model

    def build(self, chunks: Chunks, model: Any, index: Any) -> None:
        """Gets the retriever ready. Raises ``ModelError`` when the reranker's model can't be found."""
        self._reranker.identity()
        self._chunks = chunks
        self._first = min(self._reranker.depth, len(chunks))
        self._retriever.build(chunks, model, index)

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best chunk rows of each question, or groups; scores are the reranker's, below them a step of 1 each."""
        if groups is not None:
            whole = self._retriever.search(questions, depth, groups)
            return of_groups(self._read(questions, self._first), whole, groups, depth)
        ranking = self._read(questions, max(depth, self._first))
        return Ranking(ranking.rows[:, :depth], ranking.scores[:, :depth])

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """The place among the rows that were read, else the retriever's rank, which reranking does not change."""
        ranks = self._retriever.first_ranks(questions, relevant, groups)
        ranking = self._read(questions, self._first)
        if groups is not None:
            nothing = Ranking(
                np.zeros((len(questions), 0), np.int64), np.zeros((len(questions), 0), np.float32)
            )
            ranking = of_groups(ranking, nothing, groups, self._first)
        for i, rows in enumerate(relevant):
            places = np.flatnonzero(np.isin(ranking.rows[i], rows))
            if len(places):
                ranks[i] = places[0] + 1
        return ranks

    def encoded(self) -> Encoded | None:
        """What the retriever's model saw of each chunk row."""
        return self._retriever.encoded()

    def measurements(self) -> Mapping[str, float]:
        """Those of the retriever."""
        return self._retriever.measurements()

    def search_ms(self, questions: Sequence[str]) -> FloatArray:
        """Milliseconds of searching and reranking for each question alone; nan for one that was never ranked."""
        reading = [self._reranker.milliseconds(question) for question in questions]
        return self._retriever.search_ms(questions) + np.array(reading, np.float64)

    def answer(self, question: str) -> Ranking | list[Any]:
        """One question as it would be asked in production: searched, its first rows read by the reranker; nothing kept."""
        if isinstance(self._retriever, ExternalRetriever):
            answers = self._retriever.answer(question)
            self._reranker.live(question, [row.text or "" for row in answers[0].rows])
            return answers
        ranking = self._retriever.answer(question, self._first)
        return reordered(ranking, self._reranker.live(question, self._texts(ranking.rows[0]))[None])

    def _read(self, questions: Sequence[str], depth: int) -> Ranking:
        """The ranking of chunks with its first rows in the reranker's order."""
        ranking = self._retriever.search(questions, depth)
        rows = ranking.rows[:, : self._first]
        given = self._reranker.scores(questions, [self._texts(some) for some in rows])
        scores = np.full(rows.shape, -np.inf, np.float32)
        for i, some in enumerate(given):
            scores[i, : len(some)] = some
        return reordered(ranking, scores)

    def _texts(self, rows: IntArray) -> list[str]:
        """What was indexed: a title before the text is read too."""
        return list(self._chunks.embed_texts(rows[rows >= 0]))
