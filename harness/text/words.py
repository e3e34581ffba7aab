"""What a word is, the same for every script, and how many words of a question its evidence shares.

Dropping questions that overlap would rig every comparison against BM25, so overlaps are for marking and
reporting.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
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
LETTERS = r"\p{L}\p{N}_"  # what \w is to Python's own re
_MARKS = r"\p{Mn}\p{Mc}"
_ASCII = re.compile(r"\w+")
_IS_UNSPACED = regex.compile(f"[{UNSPACED}]")
_UNIT = regex.compile(rf"(?V1)[{UNSPACED}][{_MARKS}]*|[[{LETTERS}{_MARKS}]--[{UNSPACED}]]+")

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


def is_unspaced(unit: str) -> bool:
    """Whether ``unit`` is a character of a script without blanks (its marks aside)."""
    return _IS_UNSPACED.match(unit) is not None


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether the span cuts no word, no number and no character with its marks at either end."""
    return not any(_is_joined(text[max(0, at - 2) : at], text[at : at + 2]) for at in (start, end))


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


def _is_joined(before: str, after: str) -> bool:
    if not before or not after or unicodedata.category(after[0])[0] == "M":
        return bool(before and after)
    left, right = before[-1], after[0]
    if _is_letter(left) and _is_letter(right):
        return not (is_unspaced(left) or is_unspaced(right))
    is_in_number = left in ".,:" and before[:-1].isdigit() and right.isdigit()
    return is_in_number or (left.isdigit() and right in ".,:" and after[1:].isdigit())


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"


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
