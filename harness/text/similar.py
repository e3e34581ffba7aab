"""Nearly the same text: where a quote may have gone that stands nowhere word for word."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Sequence

from harness.records import Document
from harness.text.find import Place, find_places

_PIECES = 8
_PIECE_CHARACTERS = (16, 8)  # the longer where the quote has room for three of them
_COMMON = 5  # a piece that stands in so many places says nothing
_CANDIDATES = 3
_ALIKE = 0.6  # share of the quote's words found in the candidate, in order
_WORDS = 300  # of a long quote, its first words are compared
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+")  # Chinese and Japanese: by the character


def find_similar(quotes: Collection[str], documents: Sequence[Document]) -> dict[str, Place]:
    """For each quote that has one, the place of the most similar text: at least six tenths of its words, in order.

    Pieces of the quotes are looked for in one pass over the corpus, and only around rare ones are words compared.
    """
    pieces = {quote: _pieces(quote) for quote in quotes}
    hits = find_places({piece for cut in pieces.values() for piece in cut}, documents, _COMMON)
    best = {}
    for quote, cut in pieces.items():
        votes: Counter[tuple[int, int]] = Counter()
        for piece, offset in cut.items():
            if len(hits[piece]) < _COMMON:
                votes.update((hit.document, (hit.start - offset) // len(quote)) for hit in hits[piece])
        candidates = [
            Place(document, max(0, window * len(quote)))
            for (document, window), _ in votes.most_common(_CANDIDATES)
        ]
        scored = [
            (_likeness(quote, documents[place.document].text, place.start), place) for place in candidates
        ]
        if scored and max(scored)[0] >= _ALIKE:
            best[quote] = max(scored)[1]
    return best


def _pieces(quote: str) -> dict[str, int]:
    """Pieces of ``quote``, evenly spread, with their offsets; none when it is too short to have two."""
    size = next((size for size in _PIECE_CHARACTERS if len(quote) >= 3 * size), 0)
    if not size:
        return {}
    step = max(size, (len(quote) - size) // (_PIECES - 1))
    return {quote[at : at + size]: at for at in range(0, len(quote) - size + 1, step)}


def _likeness(quote: str, text: str, start: int) -> float:
    """Share of the quote's words that stand, in order, in the two lengths of a quote from half a length before ``start``."""
    window = text[max(0, start - len(quote) // 2) : start + 2 * len(quote)]
    ours, theirs = _WORD.findall(quote)[:_WORDS], _WORD.findall(window)[: 3 * _WORDS]
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(1, len(ours))
