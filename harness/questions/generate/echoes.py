"""The longest run of words that a question shares with a text."""

from __future__ import annotations

from collections.abc import Sequence

from harness.text.words import is_unspaced

_CHARACTERS_OF_A_WORD = 1.7  # Chinese, on average


def longest_run(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The first of the longest runs of neighbours that stands in both, maybe none.

    Time grows with the product of the lengths: for a question and a passage that is nothing.
    """
    best, best_end = 0, 0
    lengths = [0] * (len(other) + 1)
    for at, word in enumerate(one, start=1):
        before = 0
        for place, held in enumerate(other, start=1):
            lengths[place], before = (before + 1 if word == held else 0), lengths[place]
            if lengths[place] > best:
                best, best_end = lengths[place], at
    return list(one[best_end - best : best_end])


def length_in_words(run: Sequence[str]) -> float:
    """How many words a run of ``harness.text.words.units`` is worth: a character of Chinese or Japanese counts less."""
    return sum(1 / _CHARACTERS_OF_A_WORD if is_unspaced(unit) else 1.0 for unit in run)
