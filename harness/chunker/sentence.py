"""Whole sentences, packed up to a size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from harness.chunker.pack import Sized, any_line_ends, pack, trim
from harness.records import Chunk, Document, IntArray
from harness.text.encodings import encodable
from harness.text.tokens import TokenMap

LONG_BLANK = re.compile(r"\s{5,}")
BLANK_KEPT = 4  # enough for a paragraph break with either kind of line end


@dataclass(frozen=True)
class Sentence(Sized):
    """Consecutive whole sentences that together have at most ``size`` tokens, as many as fit.

    A chunk repeats the last sentences of the one before it that together have at most ``overlap`` tokens. A
    sentence of more than ``size`` tokens is cut after every ``size`` tokens, and the parts are packed like
    sentences. White space at the ends of a chunk is left out, chunks of nothing else too.

    ``language``: ISO 639 code for the library ``sentencex``, which splits languages that it does not know by
    general rules. Raises ``SettingError`` unless ``0 <= overlap < size``.
    """

    language: str = "en"

    @any_line_ends
    def split(self, document: Document, tokens: TokenMap) -> Iterator[Chunk]:
        """The chunks of ``document``, in order."""
        bounds = _cut_long(_sentence_bounds(document.text, self.language), tokens, self.size)
        runs = pack(tokens.counts(bounds), self.size, self.overlap)
        return trim(document, ((int(bounds[first]), int(bounds[last])) for first, last in runs))


def _sentence_bounds(text: str, language: str) -> IntArray:
    """0, the offset at which each further sentence begins, and the text's length; strictly increasing."""
    import sentencex

    # The library makes an object of every second line of a long run of empty lines; blanks cost it nothing.
    shown = LONG_BLANK.sub(lambda run: run[0][:BLANK_KEPT].ljust(len(run[0])), encodable(text))
    found = sentencex.get_sentence_boundaries(language, shown)
    starts = np.array([sentence["start_index"] for sentence in found], np.int64)
    # Only the starts are used, so a sentence ends where the next begins and no character is lost.
    inner = starts[(starts > 0) & (starts < len(text))]
    return np.unique(np.concatenate([[0], inner, [len(text)]]))


def _cut_long(bounds: IntArray, tokens: TokenMap, size: int) -> IntArray:
    """``bounds`` with cuts after every ``size`` tokens of each sentence that has more."""
    first = np.searchsorted(tokens.starts, bounds)
    long = np.flatnonzero(np.diff(first) > size).tolist()
    cuts = [tokens.starts[first[sentence] + size : first[sentence + 1] : size] for sentence in long]
    return np.unique(np.concatenate([bounds, *cuts]))
