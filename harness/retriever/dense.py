"""Dense retrieval: the chunks whose vectors lie nearest to the question's."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

import numpy as np

from harness.records import Chunks, Encoded, IntArray, Ranking
from harness.retriever import Encoder, VectorIndex
from harness.text.encodings import LineEnds


class _Texts(Sequence[str]):
    """The texts of some rows, made when they are asked for: a corpus is in memory once."""

    def __init__(self, chunks: Chunks, rows: IntArray) -> None:
        self._chunks = chunks
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return list(self._chunks.embed_texts(self._rows[index]))
        return self._chunks.embed_text(self._rows[index])

    def __iter__(self) -> Iterator[str]:
        return self._chunks.embed_texts(self._rows)


class DenseRetriever:
    """Embeds every distinct chunk text once and searches the vectors with the index."""

    uses_model = True
    uses_index = True

    def build(self, chunks: Chunks, model: Encoder, index: VectorIndex) -> None:
        """Embeds the chunks and builds the index. Equal texts are embedded once and share a vector."""
        positions: dict[bytes, int] = {}
        vector_of_row = np.fromiter(
            (
                positions.setdefault(_digest(text), len(positions))
                for text in chunks.embed_texts(np.arange(len(chunks)))
            ),
            np.int64,
            len(chunks),
        )
        first = np.flatnonzero(np.diff(np.maximum.accumulate(vector_of_row), prepend=-1))
        del positions
        started = time.perf_counter()
        encoded = model.encode_documents(_Texts(chunks, first))
        embedded = time.perf_counter()
        index.build(encoded.vectors, vector_of_row)
        self._measurements = {
            "embed_seconds": embedded - started,
            "index_seconds": time.perf_counter() - embedded,
            "index_mb": index.megabytes(),
        }
        no_vectors = np.zeros((len(chunks), 0), np.float32)
        tokens, seen_tokens, seen_chars = (column[vector_of_row] for column in encoded[1:])
        self._encoded = Encoded(no_vectors, tokens, seen_tokens, _as_written(chunks, seen_chars))
        self._model, self._index = model, index

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` nearest chunk rows of each question, or groups of rows by their nearest one."""
        queries = self._model.encode_queries(questions).vectors
        return self._index.search(queries, depth, groups)

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row over the whole ranking; 0 without one."""
        queries = self._model.encode_queries(questions).vectors
        return self._index.first_ranks(queries, relevant, groups)

    def encoded(self) -> Encoded:
        """What the model read of each chunk row; the vectors are left out."""
        return self._encoded

    def measurements(self) -> Mapping[str, float]:
        """``embed_seconds``, ``index_seconds`` and ``index_mb``."""
        return self._measurements


def _as_written(chunks: Chunks, seen_chars: IntArray) -> IntArray:
    r"""``seen_chars`` in characters of the documents as they are, a ``\r\n`` counted as two."""
    has_returns = np.array(["\r" in document.text for document in chunks.documents], np.bool_)
    for row in np.flatnonzero(has_returns[chunks.doc]).tolist():
        before, ends = int(chunks.chars_before[row]), LineEnds(chunks.text(row))
        if seen_chars[row] > before:
            seen_chars[row] = before + ends.original(seen_chars[row] - before)
    return seen_chars


def _digest(text: str) -> bytes:
    """What stands for a text where millions are compared: 16 bytes, the same for no two."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
