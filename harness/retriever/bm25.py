"""Lexical retrieval: BM25, with stems and stop words. No model reads anything."""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import SettingError
from harness.records import Chunks, Float32Array, IntArray, Ranking
from harness.retriever import Encoder, VectorIndex
from harness.retriever.analyzer import Analyzer
from harness.retriever.scored import first_ranks, of_groups, ranking

METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")


class Bm25Retriever:
    """Scores each chunk by the words that it shares with the question; one that shares none never comes back.

    A word counts for more the fewer chunks have it (its idf), for more but ever less the more often it occurs
    (``k1``), and for less in a long chunk (``b``); a word that is asked for twice counts twice. ``method``
    names the variant of the formula (Kamphuis et al. 2020, "Which BM25 do you mean?"). For ``language`` and
    ``shortest`` see ``harness.retriever.analyzer``. Raises ``SettingError`` for a value that is not allowed.
    """

    uses_model = False
    uses_index = False

    def __init__(
        self,
        language: str = "english",
        k1: float = 1.5,
        b: float = 0.75,
        method: str = "lucene",
        shortest: int = 2,
    ) -> None:
        if not _is_number(k1) or not 0 <= k1 < np.inf:
            raise SettingError(
                f"retriever.k1 is {k1}; it must be a number of at least 0 (1.2 to 2 is usual).",
                key="retriever.k1",
            )
        if not _is_number(b) or not 0 <= b <= 1:
            raise SettingError(
                f"retriever.b is {b}; it must be a number from 0 to 1 (0.75 is usual).", key="retriever.b"
            )
        if method not in METHODS:
            raise SettingError(
                f"retriever.method is {method}; allowed are {', '.join(METHODS)}.", key="retriever.method"
            )
        self._analyzer = Analyzer(language, shortest)
        self._settings: dict[str, Any] = {"k1": k1, "b": b, "method": method}

    def build(self, chunks: Chunks, model: Encoder, index: VectorIndex) -> None:  # noqa: ARG002 - neither is needed
        """Counts the words of every chunk, the text before it (a title) included."""
        started = time.perf_counter()
        self._rows = len(chunks)
        self._place: dict[str, int] = {}
        place = self._place
        rows = [
            array("i", [place.setdefault(word, len(place)) for word in self._analyzer.terms(text)])
            for text in chunks.embed_texts(np.arange(len(chunks)))
        ]
        self._table = _table(rows, place, self._settings)
        self._measurements = {
            "index_seconds": time.perf_counter() - started,
            "index_mb": sum(column.nbytes for column in self._table) / 1e6,
        }

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best chunk rows of each question, or groups by their best row.

        -1 where no more rows share a word with the question.
        """
        scored = (self._scores(question, groups) for question in questions)
        return ranking(scored, len(questions), depth)

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row over the whole ranking; 0 where none shares a word with it."""
        scored = (self._scores(question, groups) for question in questions)
        return first_ranks(scored, relevant)

    def encoded(self) -> None:
        """None: no model read the chunks."""

    def measurements(self) -> Mapping[str, float]:
        """``index_seconds`` and ``index_mb``."""
        return self._measurements

    def _scores(self, question: str, groups: IntArray | None) -> Float32Array:
        """float32 score of every row, or of every group by its best row; 0 where no word is shared."""
        data, rows, begins = self._table
        scores = np.zeros(self._rows, np.float32)
        for word in self._analyzer.terms(question):
            place = self._place.get(word)
            if place is not None:
                of_word = slice(begins[place], begins[place + 1])
                scores[rows[of_word]] += data[of_word]
        return scores if groups is None else of_groups(scores, groups)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _table(
    rows: Sequence[array[int]], place: Mapping[str, int], settings: Mapping[str, Any]
) -> tuple[Float32Array, npt.NDArray[np.int32], IntArray]:
    """Scores of the words, word by word, with the rows that have them.

    Word ``w`` has the entries ``[begins[w] : begins[w + 1]]``.
    """
    import bm25s

    if not place:  # the mean length of nothing is no number
        return np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(1, np.int64)
    counted = bm25s.BM25(**settings)
    counted.index((rows, dict(place)), create_empty_token=False, show_progress=False)
    data, columns, begins = (counted.scores[name] for name in ("data", "indices", "indptr"))
    return np.asarray(data, np.float32), np.asarray(columns, np.int32), np.asarray(begins, np.int64)
