"""How much of a question's wording its evidence gives away: the words it shares with its quotes.

Dropping overlapping questions would rig every comparison against BM25, so the figures are for marking and reporting.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from harness.errors import SettingError
from harness.text.words import words

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


class Overlap(NamedTuple):
    """Shares of a question's distinct words that occur in its quotes, both in [0, 1]; 0.0 where no word is left to count.

    ``plain``: lower-cased words, nothing left out. ``stemmed``: without stop words, by stem.
    """

    plain: float
    stemmed: float


def overlap(question: str, quotes: Iterable[str], language: str = "english") -> Overlap:
    r"""The overlap of ``question`` with all of ``quotes`` together.

    A word is a run of letters, digits and underscores (``\w+``) with the marks that combine with them; apostrophes and hyphens part
    words. Chinese, Japanese, Thai and others that are written without blanks count by pairs of neighbouring characters. With this
    definition the 472 questions of Chroma's published set have a mean ``plain`` overlap of 0.487.

    ``language``: a name or ISO 639 code that the library ``PyStemmer`` knows; raises ``SettingError`` for any other.
    """
    asked = set(words(question))
    told = {word for quote in quotes for word in words(quote)}
    stem, stopped = _stemmer(language).stemWord, stop_words(language)
    stems = {stem(word) for word in asked - stopped}
    return Overlap(_share(asked, told), _share(stems, {stem(word) for word in told}))


def _share(asked: set[str], told: set[str]) -> float:
    return len(asked & told) / len(asked) if asked else 0.0


def _stemmer(language: str) -> Any:
    """A new one each time: they cost nothing, and no two threads may share one."""
    import Stemmer

    try:
        return Stemmer.Stemmer(language)
    except KeyError:
        raise SettingError(
            f"language is {language!r}; allowed are {', '.join(Stemmer.algorithms())}, or their ISO 639 codes.",
            key="generator.language",
        ) from None


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words that say nothing about a text's subject; our own list for English, those of ``bm25s`` for others, else none."""
    if language in {"english", "en", "eng"}:
        return frozenset(_ENGLISH.split())
    from bm25s import stopwords

    return frozenset(getattr(stopwords, f"STOPWORDS_{language.upper()}", ()))
