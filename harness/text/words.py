"""What a word is, the same for every script, and how many words of a question its evidence shares.

Dropping questions that overlap would rig every comparison against BM25, so overlaps are for marking and
reporting.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import regex  # type: ignore[import-untyped] # it ships no types

from harness.errors import SettingError

# Written without blanks: Thai, Lao, Myanmar, Khmer; kana, Han and their compatibility forms.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# In a lexical search also the rarer scripts of that kind, and Hangul, whose blanks part phrases.
_PAIRED = (
    UNSPACED + r"\p{Block=Tai_Le}\p{Block=New_Tai_Lue}\p{Block=Tai_Tham}\p{Block=Tai_Viet}\u3006\u3007"
    r"\p{Block=Myanmar_Extended_A}\p{Block=Myanmar_Extended_B}\p{Block=Hangul_Jamo}"
    r"\p{Block=Hangul_Compatibility_Jamo}\p{Block=Hangul_Syllables}\p{Block=Hangul_Jamo_Extended_B}"
)
_LETTERS = r"\p{L}\p{N}_"  # what \w is to Python's own re
_MARKS = r"\p{Mn}\p{Mc}"
_ASCII = re.compile(r"\w+")
_IS_UNSPACED = regex.compile(f"[{UNSPACED}]")
_UNIT = regex.compile(rf"(?V1)[{UNSPACED}][{_MARKS}]*|[[{_LETTERS}{_MARKS}]--[{UNSPACED}]]+")
# Vowel signs of Arabic are written or left out at will; only its own stemmer knows how to take them off.
_SEARCHED_ARABIC = regex.compile(rf"(?V1)[{_LETTERS}][[{_LETTERS}\p{{M}}]--[\U000e0100-\U000e01ef]]*")
_SEARCHED = regex.compile(
    rf"(?V1)[{_LETTERS}](?:[{_LETTERS}]|[\p{{M}}--[\u0610-\u06ff\U000e0100-\U000e01ef]])*"
)
# Names that are more than a word: 2.1.0, C++, std::string, CVE-2024-1234, get_user, getUser.
_NAME = regex.compile(
    rf"[{_LETTERS}]+(?:(?:\.|::?|-)[{_LETTERS}]+)+|[{_LETTERS}]+(?:\+\+|#)(?![{_LETTERS}])|[{_LETTERS}]+"
)
_WORD = regex.compile(rf"[{_LETTERS}]+")
_NAME_PART = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|[\p{Lt}\p{Lm}\p{Lo}]+")
_SCRIPTS = {
    name: regex.compile(rf"\p{{Script={name}}}")
    for name in ["Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Devanagari", "Armenian", "Tamil"]
}
_RUN = regex.compile(f"([{_PAIRED}]+)|([^{_PAIRED}]+)")

# Words that say nothing about what is asked, and those that make a question of it.
_ENGLISH = (
    "a about above after again against all also am an and any are as at be because been before being "
    "below between both but by can cannot could did do does doing down during each either else ever "
    "few for from further get got had has have having he her here hers him his how i if in into is "
    "it its itself just may me might more most must my no nor not now of off on once only or other "
    "ought our ours out over own per s same shall she should since so some such t than that the "
    "their theirs them then there these they this those through to too under until up upon us very "
    "was we were what when where whether which while who whom whose why will with within without "
    "would you your yours"
)


class WordOverlap(NamedTuple):
    """Shares of a question's distinct words that occur in its quotes, both in [0, 1]; 0.0 without words.

    ``plain``: lower-cased words, nothing left out. ``stemmed``: without stop words, by stem.
    """

    plain: float
    stemmed: float


def units(text: str) -> list[str]:
    """The words of ``text`` in order, lower-cased: runs of letters, digits, underscores and combining marks.

    Scripts that are written without blanks come character by character.
    """
    if text.isascii():
        return _ASCII.findall(text.lower())
    found: list[str] = _UNIT.findall(unicodedata.normalize("NFC", text).lower())
    return found


def words(text: str) -> list[str]:
    """As ``units``, but scripts without blanks come as pairs of neighbouring characters.

    A single character stays alone. One character of Chinese is too common to tell two texts apart.
    """
    found = units(text)
    if text.isascii():
        return found
    result: list[str] = []
    for is_paired, run in groupby(found, key=is_unspaced):
        some = list(run)
        pairs = [one + other for one, other in pairwise(some)]
        result += (pairs or some) if is_paired else some
    return result


def search_terms(text: str, shortest: int, *, with_arabic_signs: bool = False) -> Iterator[str]:
    """The terms of ``text`` for a lexical search, before stop words and stems.

    Words have at least ``shortest`` characters. A word begins with a letter, digit or underscore; marks may
    follow. Every two neighbouring characters of a script without blanks between words are a term.
    Compatibility forms are equal to what they stand for (NFKC).
    """
    plain = (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()
    for word in (_SEARCHED_ARABIC if with_arabic_signs else _SEARCHED).findall(plain):
        for paired, other in [("", word)] if word.isascii() else _RUN.findall(word):
            if len(other) >= shortest:
                yield other
            if paired:
                yield from (paired[i : i + 2] for i in range(max(1, len(paired) - 1)))


def name_terms(text: str, shortest: int) -> tuple[list[str], list[str]]:
    """The names in ``text`` that ``search_terms`` would cut or lose, lower-cased, and the parts of names.

    ``get_user``, ``getUser`` and ``user2`` have parts (at least ``shortest`` characters each); names with a
    sign within or after them, such as ``2.1.0``, ``C++`` and ``CVE-2024-1234``, are given as they stand.
    ``by-product`` is no name but words.
    """
    whole, parts = [], []
    for name in _NAME.findall(text if text.isascii() else unicodedata.normalize("NFKC", text)):
        words_of_name = _WORD.findall(name)
        if words_of_name != [name] and not name.replace("-", "").isalpha():
            whole.append(name.lower())
        for pieces in map(_NAME_PART.findall, words_of_name):
            parts += [piece.lower() for piece in pieces if len(pieces) > 1 and len(piece) >= shortest]
    return whole, parts


def main_script(text: str) -> str:
    """The script of most letters of ``text``, such as Latin or Cyrillic, of those with blanks between words.

    Empty where it has no letters, or most are of scripts that every search handles alike.
    """
    if text.isascii():
        return "Latin" if any(map(str.isalpha, text)) else ""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS.items()}
    most = max(counts, key=lambda name: counts[name])
    return most if 2 * counts[most] > sum(map(str.isalpha, text)) else ""


def is_unspaced(unit: str) -> bool:
    """Whether ``unit`` is a character of a script without blanks (its marks aside)."""
    return _IS_UNSPACED.match(unit) is not None


def size(text: str) -> int:
    """Characters, those of scripts without blanks counted twice: texts of one size say about as much."""
    return len(text) if text.isascii() else len(text) + len(_IS_UNSPACED.findall(text))


def overlap(question: str, quotes: Iterable[str], language: str = "english") -> WordOverlap:
    """The overlap of ``question`` with all of ``quotes`` together, by ``words``.

    Apostrophes and hyphens part words. With this definition the 472 questions of Chroma's published set have
    a mean ``plain`` overlap of 0.487.

    ``language``: a name or ISO 639 code that the library ``PyStemmer`` knows; raises ``SettingError`` for any
    other.
    """
    asked = set(words(question))
    told = {word for quote in quotes for word in words(quote)}
    stem = _stemmer(language).stemWord
    stems = {stem(word) for word in asked - stop_words(language)}
    return WordOverlap(_share(asked, told), _share(stems, {stem(word) for word in told}))


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words that say nothing about a text's subject; for English our own list, else that of ``bm25s``."""
    if language in {"english", "en", "eng"}:
        return frozenset(_ENGLISH.split())
    from bm25s import stopwords

    return frozenset(getattr(stopwords, f"STOPWORDS_{language.upper()}", ()))


def _share(asked: set[str], told: set[str]) -> float:
    return len(asked & told) / len(asked) if asked else 0.0


def _stemmer(language: str) -> Any:
    """A new one each time: they cost nothing, and no two threads may share one."""
    import Stemmer

    try:
        return Stemmer.Stemmer(language)
    except KeyError:
        raise SettingError(
            f"language is {language!r}; allowed are {', '.join(Stemmer.algorithms())}, or their ISO 639 "
            "codes.",
            key="generator.language",
        ) from None
