"""From what a tokenizer says about the pieces of texts to where the tokens of the texts begin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from harness.records import IntArray

PIECE_CHARS = 8_000  # small enough for all cores to work on one long document
BYTES_PER_TOKEN = 4  # what a token of English text comes to

_OFFSET_BITS = 32

BLANK = re.compile("[ \n]")


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """Spans of about ``PIECE_CHARS`` characters, each but the first beginning with a blank."""
    start = 0
    while blank := BLANK.search(text, start + PIECE_CHARS):
        yield start, blank.start()
        start = blank.start()
    yield start, len(text)


class Piece(NamedTuple):
    """A part of a text: the text's position among all, the offset at which the part begins, and the part."""

    text: int
    offset: int
    content: str


class Starts(NamedTuple):
    """Tokens of some texts: the text of each, ascending, and where it begins; int64 (tokens,) both."""

    text: IntArray
    start: IntArray


def read(
    pieces: Sequence[Piece], encodings: Sequence[Any], texts: Sequence[str], unknown: int | None
) -> Starts:
    """Where the tokens of the pieces begin: strictly increasing offsets within each text.

    ``encodings``: of the library ``tokenizers``, one for each piece. Tokens without width are left out; words with the id
    ``unknown`` become as many tokens as their bytes are worth.
    """
    lengths = np.fromiter(map(len, encodings), np.int64, len(encodings))
    total = int(lengths.sum())
    # One pass over the numbers of all pieces: for short texts, a few calls for each would cost as much as the tokens.
    numbers = chain.from_iterable(chain.from_iterable(encoding.offsets for encoding in encodings))
    start, end = np.fromiter(numbers, np.int64, 2 * total).reshape(-1, 2).T
    text = np.repeat([piece.text for piece in pieces], lengths).astype(np.int64)
    offset = np.repeat([piece.offset for piece in pieces], lengths)
    wide = end > start
    found = _keys(text[wide], (start + offset)[wide])
    if unknown is not None:
        ids = np.fromiter(chain.from_iterable(encoding.ids for encoding in encodings), np.int64, total)
        words = ids == unknown
        if words.any():
            found = np.concatenate(
                [found, _spread_all(texts, text[words], (start + offset)[words], (end + offset)[words])]
            )
    if not (np.diff(found) > 0).all():
        found = np.unique(found)
    return Starts(found >> _OFFSET_BITS, found & (2**_OFFSET_BITS - 1))


def _keys(text: IntArray, start: IntArray) -> IntArray:
    """Text and offset as one number, so that one sort orders both."""
    return (text << _OFFSET_BITS) + start


def _spread_all(texts: Sequence[str], text: IntArray, start: IntArray, end: IntArray) -> IntArray:
    """Keys of the pseudo-tokens for unknown words, spans of the texts that ``text`` names (ascending)."""
    named, first = np.unique(text, return_index=True)
    bounds = [*first.tolist(), len(text)]
    spread = []
    for one, low, high in zip(named.tolist(), bounds, bounds[1:], strict=False):
        inside = _spread(texts[one], np.stack([start[low:high], end[low:high]], axis=1))
        spread.append(_keys(np.full(len(inside), one), inside))
    return np.concatenate(spread)


def _spread(text: str, words: IntArray) -> IntArray:
    """Starts of pseudo-tokens for ``words``, spans (words, 2): ceil(UTF-8 bytes / 4) each, evenly over characters."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    width = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    total = np.concatenate([[0], np.cumsum(width)])
    start, end = words.T
    tokens = -(-(total[end] - total[start]) // BYTES_PER_TOKEN)
    first = np.cumsum(tokens) - tokens
    nth = np.arange(tokens.sum()) - np.repeat(first, tokens)
    return np.asarray(
        np.repeat(start, tokens) + nth * np.repeat(end - start, tokens) // np.repeat(tokens, tokens)
    )
