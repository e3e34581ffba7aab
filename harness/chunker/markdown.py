"""Sections under their headings; code blocks and tables stay whole where they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.chunker.pack import check_size, pack, trim
from harness.chunker.recursive import Recursive
from harness.records import Chunk, Document, IntArray
from harness.text.markdown import CODE, TABLE, Blocks, read_blocks
from harness.text.tokens import TokenMap

# What a block that does not fit is cut at: a program's or a table's full stops end no sentence.
_PROSE = ("\n", ".", "?", "!", " ", "")
_LINES = ("\n", " ", "")
# A heading of at most this share of a chunk stays with the beginning of a block that is too long for one.
_HEADING_SHARE = 0.25


@dataclass(frozen=True)
class Markdown:
    """A Markdown text along its own structure, with offsets that are exact by construction.

    A text is cut before its outermost headings. Sections of at most ``size`` tokens are packed greedily, with
    the sections beside them; a longer one is cut before the headings inside it, in the same way, and one
    without is cut into its blocks: paragraphs, lists, fenced code, tables. A block is only cut when it alone
    has more than ``size`` tokens (code and tables between lines, paragraphs between lines, then sentences,
    then words), and a heading stays with the block after it where both fit. Text without any headings is cut
    at its blank lines. White space at the ends of a chunk is left out.

    ``size``, ``overlap``: tokens. A chunk repeats the last sections or blocks of the one before it that come
    to at most ``overlap`` tokens. Raises ``SettingError`` unless ``0 <= overlap < size``.
    """

    size: int
    overlap: int = 0

    def __post_init__(self) -> None:
        check_size(self.size, self.overlap)

    def split(self, document: Document, tokens: TokenMap) -> Iterator[Chunk]:
        """The chunks of ``document``, in order."""
        text = document.text
        return trim(document, self.spans(text, tokens, (0, len(text)), blocks=read_blocks(text)))

    def spans(
        self, text: str, tokens: TokenMap, span: tuple[int, int], *, blocks: Blocks
    ) -> Iterator[tuple[int, int]]:
        """Offsets of the chunks of a part of a text that has ``blocks``, with the white space at their ends."""
        first = int(np.searchsorted(blocks.starts, span[0], side="right")) - 1
        last = max(int(np.searchsorted(blocks.starts, span[1])), first + 1)
        bounds = np.array([span[0], *blocks.starts[first + 1 : last], span[1]], np.int64)
        return self._section(text, tokens, blocks.kinds[first:last], bounds, (0, last - first))

    def _section(
        self, text: str, tokens: TokenMap, kinds: IntArray, bounds: IntArray, section: tuple[int, int]
    ) -> Iterator[tuple[int, int]]:
        """The chunks of the blocks ``section``, not stripped yet."""
        first, last = section
        after = first + max(_leading_headings(kinds[first:last]), 1)
        inside = kinds[after:last]
        if not (inside > 0).any():
            yield from self._blocks(text, tokens, kinds, bounds, section)
            return
        inner = np.flatnonzero(inside == inside[inside > 0].min()) + after
        pieces = np.concatenate([[first], inner, [last]])
        for begin, end, fits in self._packed(tokens.counts(bounds[pieces])):
            if fits:
                yield int(bounds[pieces[begin]]), int(bounds[pieces[end]])
            else:
                part = (int(pieces[begin]), int(pieces[end]))
                yield from self._section(text, tokens, kinds, bounds, part)

    def _blocks(
        self, text: str, tokens: TokenMap, kinds: IntArray, bounds: IntArray, section: tuple[int, int]
    ) -> Iterator[tuple[int, int]]:
        """The chunks of a section without headings inside; only its first blocks may be some."""
        first, last = section
        body = first + _leading_headings(kinds[first:last])
        pieces = np.arange(first, last + 1)
        if first < body < last:
            heading, block = tokens.counts(bounds[[first, body, body + 1]]).tolist()
            if heading + block <= self.size:
                pieces = np.concatenate([[first], np.arange(body + 1, last + 1)])
            elif block > self.size and heading <= self.size * _HEADING_SHARE:
                opening, *others = self._long(text, tokens, kinds, bounds, body, self.size - heading)
                yield int(bounds[first]), opening[1]
                yield from others
                pieces = np.arange(body + 1, last + 1)
        for begin, end, fits in self._packed(tokens.counts(bounds[pieces])):
            if fits:
                yield int(bounds[pieces[begin]]), int(bounds[pieces[end]])
            else:
                yield from self._long(text, tokens, kinds, bounds, int(pieces[begin]), self.size)

    def _long(
        self, text: str, tokens: TokenMap, kinds: IntArray, bounds: IntArray, block: int, size: int
    ) -> Iterator[tuple[int, int]]:
        """The parts of a block that is too long."""
        separators = _LINES if kinds[block] in {CODE, TABLE} else _PROSE
        finer = Recursive(size, min(self.overlap, size - 1), separators)
        return finer.spans(text, tokens, (int(bounds[block]), int(bounds[block + 1])))

    def _packed(self, lengths: IntArray) -> Iterator[tuple[int, int, bool]]:
        """Runs of pieces that are a chunk together, and each piece that is too long for one, in order."""
        first = 0
        for long in [*np.flatnonzero(lengths > self.size).tolist(), len(lengths)]:
            for begin, end in pack(lengths[first:long], self.size, self.overlap):
                yield first + begin, first + end, True
            if long < len(lengths):
                yield long, long + 1, False
            first = long + 1


def _leading_headings(kinds: IntArray) -> int:
    """How many headings the blocks begin with: a title, then the first section's."""
    others = np.flatnonzero(kinds <= 0)
    return int(others[0]) if len(others) else len(kinds)
