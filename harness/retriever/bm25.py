"""Lexical retrieval: BM25, with stems and stop words. No model reads anything."""

from __future__ import annotations

import re
import time
from array import array
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import SettingError, number, share, whole
from harness.records import Chunks, Float32Array, IntArray
from harness.retriever import Encoder, VectorIndex
from harness.retriever.scored import ScoredRetriever
from harness.text.headings import one_line
from harness.text.search_terms import main_script, name_terms, search_terms

IDENTIFIERS = ("whole", "split")
# Of a document, so many characters tell its script, and whether identifiers are common.
_BEGINNING = 1_000
_COMPOUND = re.compile(r"\b[a-z]+[A-Z]\w*|\b\w*[a-z]_[a-z]\w*").findall
_SEVERAL = 3  # different ones
_MANY = 0.5  # of the documents
# The scripts of Snowball's languages that are not written in Latin letters only.
SCRIPTS = {
    "arabic": ("Arabic",),
    "armenian": ("Armenian",),
    "greek": ("Greek",),
    "hindi": ("Devanagari",),
    "nepali": ("Devanagari",),
    "russian": ("Cyrillic",),
    "serbian": ("Cyrillic", "Latin"),
    "tamil": ("Tamil",),
    "yiddish": ("Hebrew",),
}


class Analyzer:
    """Cuts texts into terms, for one ``language``.

    Terms are words of at least ``shortest`` characters, or pairs of characters in scripts without blanks
    between words (see ``harness.text.search_terms``). Stop words are left out where bm25s has a list of
    them, and the rest become stems (Snowball's). ``none``: neither stop words nor stems. ``identifiers``:
    whole takes names such as ``getUserById`` for a word; split adds their parts, and names with signs, such
    as ``2.1.0`` and ``C++``. Raises ``SettingError`` for other values.
    """

    def __init__(self, language: str, shortest: int, identifiers: str = "whole") -> None:
        import Stemmer
        from bm25s import stopwords

        known = sorted(set(Stemmer.algorithms()) - {"porter", "dutch_porter"})
        if language not in {"none", *known}:
            raise SettingError(
                f"retriever.language is {language}; allowed are none (neither stems nor stop words) and "
                f"{', '.join(known)}.",
                key="retriever.language",
            )
        if identifiers not in IDENTIFIERS:
            raise SettingError(
                f"retriever.identifiers is {identifiers}; allowed are {', '.join(IDENTIFIERS)}.",
                key="retriever.identifiers",
            )
        self.language, self.splits = language, identifiers == "split"
        self._shortest = whole(shortest, "retriever.shortest", 1, of="characters")
        self._is_arabic = language == "arabic"
        self._stemmer = None if language == "none" else Stemmer.Stemmer(language)
        name = "STOPWORDS_" + ("EN" if language == "english" else language.upper())
        self._stop = frozenset(getattr(stopwords, name, ()))

    def terms(self, text: str) -> list[str]:
        """The terms of ``text``, in order; one that occurs twice is given twice."""
        names, parts = name_terms(text, self._shortest) if self.splits else ([], [])
        found = search_terms(text, self._shortest, with_arabic_signs=self._is_arabic)
        terms = [term for term in (*found, *parts) if term not in self._stop]
        return [*(terms if self._stemmer is None else self._stemmer.stemWords(terms)), *names]


METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")


class Bm25Retriever(ScoredRetriever):
    """Scores each chunk by the words that it shares with the question; one that shares none never comes back.

    A word counts for more the fewer chunks have it (its idf), for more but ever less the more often it occurs
    (``k1``), and for less in a long chunk (``b``); a word that is asked for twice counts twice. ``method``
    names the variant of the formula (Kamphuis et al. 2020, "Which BM25 do you mean?"). For ``language``,
    ``shortest`` and ``identifiers`` see ``Analyzer``. Raises ``SettingError`` for a value that is not
    allowed.
    """

    later = MappingProxyType({"identifiers": "whole"})

    def __init__(
        self,
        language: str = "english",
        k1: float = 1.5,
        b: float = 0.75,
        method: str = "lucene",
        shortest: int = 2,
        identifiers: str = "whole",
    ) -> None:
        if method not in METHODS:
            raise SettingError(
                f"retriever.method is {method}; allowed are {', '.join(METHODS)}.", key="retriever.method"
            )
        self._analyzer = Analyzer(language, shortest, identifiers)
        self._settings: dict[str, Any] = {
            "k1": number(k1, "retriever.k1"),
            "b": share(b, "retriever.b"),
            "method": method,
        }

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

    def problems(self, chunks: Chunks, questions: Sequence[str]) -> dict[str, tuple[int, str]]:
        """What of the texts can't be searched: a figure's name to how many, and the first of them.

        ``wordless_questions`` have no term; ``other_script_questions`` and ``other_script_documents`` are
        mostly in a script that the language is not written in; ``named_documents`` have several identifiers
        at their beginning, whose parts are not searched.
        """
        beginnings = [document.text[:_BEGINNING] for document in chunks.documents]
        named = [
            text for text in beginnings if not self._analyzer.splits and len(set(_COMPOUND(text))) >= _SEVERAL
        ]
        found = {
            "wordless_questions": [text for text in questions if not self._analyzer.terms(text)],
            "other_script_questions": [text for text in questions if self._other_script(text)],
            "other_script_documents": [text for text in beginnings if self._other_script(text)],
            "named_documents": named if len(named) > _MANY * len(beginnings) else [],
        }
        return {
            name: (len(texts), self._other_script(texts[0]) or one_line(texts[0]))
            for name, texts in found.items()
            if texts
        }

    def _other_script(self, text: str) -> str:
        """The script of most letters of ``text`` where the language is not written in it, else empty."""
        script = main_script(text)
        fits = self._analyzer.language == "none" or script in SCRIPTS.get(self._analyzer.language, ("Latin",))
        return "" if fits else script

    def measurements(self) -> Mapping[str, float]:
        """``index_seconds`` and ``index_mb``."""
        return self._measurements

    def _scores(self, question: str) -> Float32Array:
        """The score of every row; 0 where no word is shared."""
        data, rows, begins = self._table
        scores = np.zeros(self._rows, np.float32)
        for word in self._analyzer.terms(question):
            place = self._place.get(word)
            if place is not None:
                of_word = slice(begins[place], begins[place + 1])
                scores[rows[of_word]] += data[of_word]
        return scores


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
