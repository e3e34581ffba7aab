"""Where the tokens of texts begin: sizes and budgets are counted in tokens of the sweep's one tokenizer.

Chunk boundaries must not change with the model axis, and a budget of 2,000 tokens must mean the same text in
every cell. A text is tokenised once; after that a count or a cut is a search in a sorted array.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
import numpy.typing as npt

from harness.records import IntArray

PIECE_CHARS = 8_000  # small enough for all cores to work on one long document
BYTES_PER_TOKEN = 4  # what a token of English text comes to
BLANK = re.compile("[ \n]")
_OFFSET_BITS = 32


@dataclass(frozen=True, slots=True)
class TokenMap:
    """Where the tokens of one text begin.

    ``starts``: int64 (tokens,), strictly increasing character offsets. ``length``: characters of the text. A
    token belongs to the span in which it starts, so counts of adjacent spans add up to the count of their
    union.
    """

    starts: IntArray
    length: int

    def __len__(self) -> int:
        return len(self.starts)

    def count(self, start: int, end: int) -> int:
        """Tokens that start in ``[start, end)``."""
        low, high = np.searchsorted(self.starts, (start, end))
        return int(high - low)

    def counts(self, bounds: IntArray) -> IntArray:
        """Tokens in each ``[bounds[i], bounds[i + 1])``, int64 (len(bounds) - 1,); ``bounds`` ascend."""
        return np.diff(np.searchsorted(self.starts, bounds))

    def cut(self, start: int, tokens: int) -> int:
        """The largest ``end`` with ``count(start, end) == tokens``, or the text's length if it has fewer."""
        first = int(np.searchsorted(self.starts, start))
        return int(self.starts[first + tokens]) if first + tokens < len(self.starts) else self.length


@dataclass(frozen=True, slots=True)
class TokenMaps(Sequence[TokenMap]):
    """The maps of many texts in three arrays: a million short texts cost four bytes a token and no objects.

    ``starts``: uint32 (tokens,), those of all texts, one after the other; ``bounds``: int64 (texts + 1,),
    text ``i`` has ``starts[bounds[i] : bounds[i + 1]]``; ``lengths``: int64 (texts,), characters.
    """

    starts: npt.NDArray[np.uint32]
    bounds: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, index: int) -> TokenMap: ...
    @overload
    def __getitem__(self, index: slice) -> list[TokenMap]: ...
    def __getitem__(self, index: int | slice) -> TokenMap | list[TokenMap]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        starts = self.starts[self.bounds[i] : self.bounds[i + 1]].astype(np.int64)
        return TokenMap(starts, int(self.lengths[i]))


class Tokenizer(Protocol):
    """Anything that maps texts to where their tokens begin."""

    @property
    def name(self) -> str:
        """The name that it was asked for by."""

    @property
    def digest(self) -> str:
        """What its tokens depend on, as a hex digest."""

    def map(self, texts: Sequence[str]) -> TokenMaps:
        """One map per text, in order."""


class TextPiece(NamedTuple):
    """A part of a text: the text's position among all, the offset at which the part begins, and the part."""

    text: int
    offset: int
    content: str


class TokenStarts(NamedTuple):
    """Tokens of some texts: the text of each, ascending, and where it begins; int64 (tokens,) both."""

    text: IntArray
    start: IntArray


def piece_spans(text: str) -> Iterator[tuple[int, int]]:
    """Spans of about ``PIECE_CHARS`` characters, each but the first beginning with a blank."""
    start = 0
    while blank := BLANK.search(text, start + PIECE_CHARS):
        yield start, blank.start()
        start = blank.start()
    yield start, len(text)


def token_starts(
    pieces: Sequence[TextPiece], encodings: Sequence[Any], texts: Sequence[str], unknown: int | None
) -> TokenStarts:
    """Where the tokens of the pieces begin: strictly increasing offsets within each text.

    ``encodings``: of the library ``tokenizers``, one for each piece. Tokens without width are left out; words
    with the id ``unknown`` become as many tokens as their bytes are worth.
    """
    lengths = np.fromiter(map(len, encodings), np.int64, len(encodings))
    total = int(lengths.sum())
    # One pass over all numbers: for short texts, a few calls for each would cost as much as the tokens.
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
    return TokenStarts(found >> _OFFSET_BITS, found & (2**_OFFSET_BITS - 1))


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
    """Starts of ceil(UTF-8 bytes / 4) pseudo-tokens for each of ``words``, spans (words, 2), evenly."""
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
