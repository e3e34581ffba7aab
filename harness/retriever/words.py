"""Texts into the words that a search by words compares: lower case, stems, no stop words, for any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from harness.errors import SettingError

# Thai, Lao, Burmese, Khmer and the like, Chinese and Japanese: no blanks between words; Hangul: blanks part phrases.
_UNPARTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"
)
_RUN = re.compile(f"([{_UNPARTED}]+)|([^{_UNPARTED}]+)")
# Vowel signs of Arabic are written or left out at will; only its own stemmer knows how to take them off.
_ARABIC_SIGNS = range(0x0610, 0x0700)
_LAST_MARK = 0x1F000


class Words:
    """Cuts texts into words, for one ``language``.

    A word is a run of letters, digits and underscores, with the marks that stand on them, of at least ``shortest`` characters. Stop words are
    left out (where bm25s has a list of them) and the rest become stems (Snowball's). In scripts without blanks between words, every two neighbouring
    characters are a word. ``none``: neither stop words nor stems. Raises ``SettingError`` for another language.
    """

    def __init__(self, language: str, shortest: int) -> None:
        import Stemmer
        from bm25s import stopwords

        known = sorted(set(Stemmer.algorithms()) - {"porter", "dutch_porter"})
        if language not in {"none", *known}:
            raise SettingError(
                f"retriever.language is {language}; allowed are none (neither stems nor stop words) and {', '.join(known)}.",
                key="retriever.language",
            )
        if not isinstance(shortest, int) or isinstance(shortest, bool) or shortest < 1:
            raise SettingError(
                f"retriever.shortest is {shortest}; it must be a whole number of characters, at least 1.",
                key="retriever.shortest",
            )
        self._shortest = shortest
        self._word = _word(with_arabic=language == "arabic")
        self._stemmer = None if language == "none" else Stemmer.Stemmer(language)
        name = "STOPWORDS_" + ("EN" if language == "english" else language.upper())
        self._stop = frozenset(getattr(stopwords, name, ()))

    def of(self, text: str) -> list[str]:
        """The words of ``text``, in order; one that occurs twice is given twice."""
        plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
        words = [word for word in self._cut(plain.lower()) if word not in self._stop]
        return words if self._stemmer is None else list(self._stemmer.stemWords(words))

    def _cut(self, text: str) -> Iterator[str]:
        for word in self._word.findall(text):
            for unparted, plain in [("", word)] if word.isascii() else _RUN.findall(word):
                if len(plain) >= self._shortest:
                    yield plain
                if unparted:
                    yield from (unparted[i : i + 2] for i in range(max(1, len(unparted) - 1)))


@lru_cache(maxsize=2)
def _word(*, with_arabic: bool) -> re.Pattern[str]:
    """A letter, digit or underscore, and what follows of these and of marks (vowel signs of Hindi, accents that stand alone)."""
    marks = "".join(
        re.escape(chr(code))
        for code in range(0x0300, _LAST_MARK)
        if unicodedata.category(chr(code)).startswith("M") and (with_arabic or code not in _ARABIC_SIGNS)
    )
    return re.compile(rf"\w[\w{marks}]*")
