"""What several chunkers share: their sizes, greedy packing of pieces, trimming of spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import TypeVar

import numpy as np

from harness.errors import SettingError, whole
from harness.records import Chunk, Document, IntArray
from harness.text.encodings import LineEnds
from harness.text.tokens import TokenMap

_Chunker = TypeVar("_Chunker")


@dataclass(frozen=True)
class Sized:
    """Base of the chunkers with a ``size`` and an ``overlap``, both in tokens.

    Raises ``SettingError`` unless ``1 <= size`` and ``0 <= overlap < size``.
    """

    size: int
    overlap: int = 0

    def __post_init__(self) -> None:
        whole(self.size, "chunk", 1, of="tokens")
        whole(self.overlap, "overlap", of="tokens")
        if self.overlap >= self.size:
            raise SettingError(
                f"overlap is {self.overlap} tokens; it must be below chunk={self.size}. "
                "Lower overlap or raise chunk.",
                key="overlap",
            )


def pack(lengths: IntArray, size: int, overlap: int = 0, joint: int = 0) -> Iterator[tuple[int, int]]:
    """Runs ``(first, last + 1)`` of at most ``size`` together, each as long as it can be.

    ``lengths``: int64 (pieces,), tokens of each. ``joint`` is added for each seam between two pieces of a
    run. A run begins with the last pieces of the run before it that come to at most ``overlap`` and leave
    room for the next piece; pieces without tokens do not begin an overlap. A piece longer than ``size`` is a
    run by itself. Takes time in proportion to the pieces, plus a few binary searches a run.
    """
    total = np.concatenate([[0], np.cumsum(lengths + joint)])
    first = last = 0
    while last < len(lengths):
        # The length of the run first..last is total[last] - total[first] - joint.
        end = int(np.searchsorted(total, total[first] + joint + size, side="right")) - 1
        end = max(end, last + 1)
        yield first, end
        if end == len(lengths):
            return
        room = min(overlap, size - int(lengths[end]) - joint)
        begin = int(np.searchsorted(total, total[end] - joint - max(room, 0), side="left"))
        begin = int(np.searchsorted(total, total[min(begin, end)], side="right")) - 1
        first, last = max(min(begin, end), first), end


def trim(document: Document, spans: Iterable[tuple[int, int]]) -> Iterator[Chunk]:
    """``spans`` as chunks, without white space at their ends; blank and repeated ones are left out."""
    previous = (0, 0)
    for start, end in spans:
        inner = document.text[start:end].strip()
        if not inner:
            continue
        left = document.text.index(inner[0], start)
        # Two overlapping spans that differ by blanks alone hold the same text.
        if (left, left + len(inner)) != previous:
            previous = (left, left + len(inner))
            yield Chunk(document.doc_id, *previous)


def any_line_ends(
    split: Callable[[_Chunker, Document, TokenMap], Iterator[Chunk]],
) -> Callable[[_Chunker, Document, TokenMap], Iterator[Chunk]]:
    r"""``split`` as if every line of the document ended in ``\n``: the same words for each kind of line end.

    Offsets are those of the document as it is, and no chunk begins or ends within a ``\r\n``.
    """

    @wraps(split)
    def alike(self: _Chunker, document: Document, tokens: TokenMap) -> Iterator[Chunk]:
        if "\r" not in document.text:
            yield from split(self, document, tokens)
            return
        ends = LineEnds(document.text)
        starts = np.unique(ends.in_unified(tokens.starts))
        for chunk in split(self, replace(document, text=ends.unified), TokenMap(starts, len(ends.unified))):
            start, end = ends.original(np.array(chunk[1:], np.int64)).tolist()
            yield Chunk(document.doc_id, start, end)

    return alike
