"""From what a tokenizer says about the pieces of a text to where the tokens of the text begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from harness.records import IntArray

PIECE_CHARS = 8_000  # small enough for all cores to work on one long document
BYTES_PER_TOKEN = 4  # what a token of English text comes to

BLANK = re.compile("[ \n]")


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """Spans of about ``PIECE_CHARS`` characters, each but the first beginning with a blank."""
    start = 0
    while blank := BLANK.search(text, start + PIECE_CHARS):
        yield start, blank.start()
        start = blank.start()
    yield start, len(text)


def read(encoding: Any, offset: int, unknown: int | None) -> tuple[IntArray, IntArray]:
    """The starts of the tokens, and the spans (words, 2) of those with the id ``unknown``, moved by ``offset``.

    ``encoding``: a piece's, of the library ``tokenizers``. Tokens without width are left out.
    """
    spans = np.fromiter(chain.from_iterable(encoding.offsets), np.int64, 2 * len(encoding)).reshape(-1, 2)
    spans += offset
    ids = encoding.ids
    unspelled = spans[np.array(ids) == unknown] if unknown in ids else spans[:0]
    wide = spans[:, 1] > spans[:, 0]
    return (spans[:, 0] if wide.all() else spans[wide, 0]), unspelled


def join(text: str, parts: list[tuple[IntArray, IntArray]]) -> IntArray:
    """The starts of the tokens of ``text``, int64 (tokens,), strictly increasing.

    ``parts``: what ``read`` gave for each piece. Unknown words become as many tokens as their bytes are worth.
    """
    starts = np.concatenate([starts for starts, _ in parts])
    unknown = np.concatenate([unknown for _, unknown in parts])
    if len(unknown):
        starts = np.concatenate([starts, _spread(text, unknown)])
    if not (np.diff(starts) > 0).all():
        starts = np.unique(starts)
    return starts


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
