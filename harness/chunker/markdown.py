"""Sections under their headings; code blocks and tables stay whole where they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from harness.chunker.pack import Sized, any_line_ends, pack, trim
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
class Markdown(Sized):
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

    @any_line_ends
    def split(self, document: Document, tokens: TokenMap) -> Iterator[Chunk]:
        """The chunks of ``document``, in order."""
        text = document.text
        return trim(document, self.spans(text, tokens, (0, len(text)), blocks=read_blocks(text)))

    def spans(
        self, text: str, tokens: TokenMap, span: tuple[int, int], *, blocks: Blocks
    ) -> Iterator[tuple[int, int]]:
        """The chunks of a part of a text that has ``blocks``, with the white space at their ends."""
        first = int(np.searchsorted(blocks.starts, span[0], side="right")) - 1
        last = max(int(np.searchsorted(blocks.starts, span[1])), first + 1)
        bounds = np.array([span[0], *blocks.starts[first + 1 : last], span[1]], np.int64)
        sections = _Sections(text, tokens, blocks.kinds[first:last], bounds, self.size, self.overlap)
        return sections.cut(0, last - first)


@dataclass(frozen=True)
class _Sections:
    """A text whose block ``i`` is of kind ``kinds[i]`` and goes from ``bounds[i]`` to ``bounds[i + 1]``."""

    text: str
    tokens: TokenMap
    kinds: IntArray
    bounds: IntArray
    size: int
    overlap: int

    def cut(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The chunks of the blocks from ``first`` to before ``last``, not stripped yet."""
        after = first + max(_leading_headings(self.kinds[first:last]), 1)
        inside = self.kinds[after:last]
        if not (inside > 0).any():
            return self._blocks(first, last)
        inner = np.flatnonzero(inside == inside[inside > 0].min()) + after
        return self._packed(np.concatenate([[first], inner, [last]]), self.cut)

    def _blocks(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The chunks of a section without headings inside; only its first blocks may be some."""
        body = first + _leading_headings(self.kinds[first:last])
        pieces = np.arange(first, last + 1)
        if first < body < last:
            heading, block = self.tokens.counts(self.bounds[[first, body, body + 1]]).tolist()
            if heading + block <= self.size:
                pieces = np.concatenate([[first], np.arange(body + 1, last + 1)])
            elif block > self.size and heading <= self.size * _HEADING_SHARE:
                opening, *others = self._long(body, body + 1, self.size - heading)
                yield int(self.bounds[first]), opening[1]
                yield from others
                pieces = np.arange(body + 1, last + 1)
        yield from self._packed(pieces, self._long)

    def _long(self, block: int, end: int, size: int = 0) -> Iterator[tuple[int, int]]:
        """The parts of a block that is too long, of at most ``size`` tokens where given."""
        separators = _LINES if self.kinds[block] in {CODE, TABLE} else _PROSE
        size = size or self.size
        finer = Recursive(size, min(self.overlap, size - 1), separators)
        return finer.spans(self.text, self.tokens, (int(self.bounds[block]), int(self.bounds[end])))

    def _packed(
        self, pieces: IntArray, cut: Callable[[int, int], Iterator[tuple[int, int]]]
    ) -> Iterator[tuple[int, int]]:
        """Runs of pieces that are a chunk together; a piece that is too long for one is ``cut``."""
        lengths = self.tokens.counts(self.bounds[pieces])
        first = 0
        for long in [*np.flatnonzero(lengths > self.size).tolist(), len(lengths)]:
            for begin, end in pack(lengths[first:long], self.size, self.overlap):
                yield int(self.bounds[pieces[first + begin]]), int(self.bounds[pieces[first + end]])
            if long < len(lengths):
                yield from cut(int(pieces[long]), int(pieces[long + 1]))
            first = long + 1


def _leading_headings(kinds: IntArray) -> int:
    """How many headings the blocks begin with: a title, then the first section's."""
    others = np.flatnonzero(kinds <= 0)
    return int(others[0]) if len(others) else len(kinds)
