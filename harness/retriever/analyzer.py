"""Texts into the terms that BM25 compares: lower case, stems, no stop words, for any script."""

from __future__ import annotations

from harness.errors import SettingError
from harness.text.words import search_terms


class Analyzer:
    """Cuts texts into terms, for one ``language``.

    Terms are words of at least ``shortest`` characters, or pairs of characters in scripts without blanks
    between words (``harness.text.words.search_terms``). Stop words are left out where bm25s has a list of
    them, and the rest become stems (Snowball's). ``none``: neither stop words nor stems. Raises
    ``SettingError`` for another language.
    """

    def __init__(self, language: str, shortest: int) -> None:
        import Stemmer
        from bm25s import stopwords

        known = sorted(set(Stemmer.algorithms()) - {"porter", "dutch_porter"})
        if language not in {"none", *known}:
            raise SettingError(
                f"retriever.language is {language}; allowed are none (neither stems nor stop words) and "
                f"{', '.join(known)}.",
                key="retriever.language",
            )
        if not isinstance(shortest, int) or isinstance(shortest, bool) or shortest < 1:
            raise SettingError(
                f"retriever.shortest is {shortest}; it must be a whole number of characters, at least 1.",
                key="retriever.shortest",
            )
        self._shortest = shortest
        self._is_arabic = language == "arabic"
        self._stemmer = None if language == "none" else Stemmer.Stemmer(language)
        name = "STOPWORDS_" + ("EN" if language == "english" else language.upper())
        self._stop = frozenset(getattr(stopwords, name, ()))

    def terms(self, text: str) -> list[str]:
        """The terms of ``text``, in order; one that occurs twice is given twice."""
        found = search_terms(text, self._shortest, with_arabic_signs=self._is_arabic)
        terms = [term for term in found if term not in self._stop]
        return terms if self._stemmer is None else list(self._stemmer.stemWords(terms))
