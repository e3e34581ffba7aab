"""Dense retrieval: the chunks whose vectors lie nearest to the question's."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from harness.records import Chunks, Encoded, IntArray, Ranking
from harness.retriever import Encoder, VectorIndex


class DenseRetriever:
    """Embeds every distinct chunk text once and searches the vectors with the index."""

    def build(self, chunks: Chunks, model: Encoder, index: VectorIndex) -> None:
        """Embeds the chunks and builds the index. Equal texts are embedded once and share a vector."""
        places: dict[str, int] = {}
        vector_of_row = np.array(
            [places.setdefault(chunks.embed_text(row), len(places)) for row in range(len(chunks))], np.int64
        )
        started = time.perf_counter()
        encoded = model.encode_documents(list(places))
        embedded = time.perf_counter()
        index.build(encoded.vectors, vector_of_row)
        self._measurements = {
            "embed_seconds": embedded - started,
            "index_seconds": time.perf_counter() - embedded,
            "index_mb": index.megabytes(),
        }
        no_vectors = np.zeros((len(chunks), 0), np.float32)
        self._encoded = Encoded(no_vectors, *(column[vector_of_row] for column in encoded[1:]))
        self._model, self._index, self._doc_rows = model, index, chunks.doc_rows

    def search(self, questions: Sequence[str], depth: int, *, documents: bool = False) -> Ranking:
        """The ``depth`` nearest chunk rows of each question, or the documents whose best chunk is nearest."""
        queries = self._model.encode_queries(questions).vectors
        return self._index.search(queries, depth, self._doc_rows if documents else None)

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], *, documents: bool = False
    ) -> IntArray:
        """Rank of the best relevant row over the whole ranking; 0 where there is none."""
        queries = self._model.encode_queries(questions).vectors
        return self._index.first_ranks(queries, relevant, self._doc_rows if documents else None)

    def encoded(self) -> Encoded:
        """What the model saw of each chunk row; no vectors."""
        return self._encoded

    def measurements(self) -> Mapping[str, float]:
        """``embed_seconds``, ``index_seconds`` and ``index_mb``."""
        return self._measurements
