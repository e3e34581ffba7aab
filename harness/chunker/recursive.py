"""Pieces between separators, the coarsest separators first, packed up to a size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.chunker.pack import Sized, any_line_ends, pack, trim
from harness.errors import SettingError, whole
from harness.records import Chunk, Document, IntArray
from harness.text.tokens import TokenMap


@dataclass(frozen=True)
class Recursive(Sized):
    """The well-known recursive character splitter, with offsets that are exact by construction.

    A text is cut before every occurrence of the first of ``separators`` that it holds. Pieces of less than
    ``size`` tokens are packed greedily; a longer piece is cut in the same way at the separators that follow,
    and nothing is packed across it. ``""`` cuts between characters and must stand last, so that no chunk is
    too long. White space at the ends of a chunk is left out, chunks of nothing else too.

    ``size``, ``overlap``: tokens. A chunk repeats the last pieces of the one before it that come to at most
    ``overlap`` tokens. ``extra_tokens`` are added to the length of every piece and every seam between two,
    for instance 2 for a model's [CLS] and [SEP]. Raises ``SettingError`` unless ``0 <= overlap < size`` and
    ``0 <= extra_tokens < size``.

    ``separators`` as in Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", Chroma, 2024.
    """

    separators: Sequence[str] = ("\n\n", "\n", ".", "?", "!", " ", "")
    extra_tokens: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.extra_tokens, "chunker.extra_tokens", 0, self.size - 1, of="tokens")
        given = list(self.separators)
        if not all(isinstance(one, str) for one in given) or given[-1:] != [""] or "" in given[:-1]:
            raise SettingError(
                f'chunker.separators is {given}; it must be strings with "" (cut between characters) '
                "as the last and only the last, or a long piece without separators could not be cut.",
                key="chunker.separators",
            )
        # Hydra gives a list of its own, which takes longer to walk through than a short text takes to cut.
        object.__setattr__(self, "separators", tuple(given))

    @any_line_ends
    def split(self, document: Document, tokens: TokenMap) -> Iterator[Chunk]:
        """The chunks of ``document``, in order."""
        span = (0, len(document.text))
        # Only in a plain map do the counts of pieces add up to that of the text.
        if type(tokens) is TokenMap and len(tokens) < self.size and not self.extra_tokens:
            return trim(document, [span])
        return trim(document, self.spans(document.text, tokens, span))

    def spans(self, text: str, tokens: TokenMap, span: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """The chunks within ``span`` as offsets, with the white space at their ends."""
        return self._spans(text, tokens, span, tuple(self.separators))

    def _spans(
        self, text: str, tokens: TokenMap, span: tuple[int, int], separators: tuple[str, ...]
    ) -> Iterator[tuple[int, int]]:
        """The chunks of ``text`` within ``span``, not stripped yet."""
        bounds, finer = _cut(text, span, separators)
        lengths = tokens.counts(bounds) + self.extra_tokens
        long = np.flatnonzero(lengths >= self.size).tolist() if finer else []
        first = 0
        for piece in [*long, len(lengths)]:
            for begin, end in pack(lengths[first:piece], self.size, self.overlap, joint=self.extra_tokens):
                yield int(bounds[first + begin]), int(bounds[first + end])
            if piece < len(lengths):
                yield from self._spans(text, tokens, (int(bounds[piece]), int(bounds[piece + 1])), finer)
            first = piece + 1


def _cut(text: str, span: tuple[int, int], separators: tuple[str, ...]) -> tuple[IntArray, tuple[str, ...]]:
    """The bounds of pieces at the first separator that ``span`` holds, and the separators after it."""
    start, end = span
    for position, separator in enumerate(separators):
        if not separator:
            break
        if text.find(separator, start, end) >= 0:
            found = [match.start() for match in re.finditer(re.escape(separator), text[start:end])]
            inner = np.array(found, np.int64) + start
            inner = inner[inner > start]
            return np.concatenate([[start], inner, [end]]), separators[position + 1 :]
    return np.arange(start, end + 1, dtype=np.int64), ()
