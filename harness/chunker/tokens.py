"""Windows of a fixed number of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.chunker.pack import Sized, any_line_ends
from harness.records import Chunk, Document
from harness.text.tokens import TokenMap


@dataclass(frozen=True)
class Tokens(Sized):
    """Windows of ``size`` tokens, each beginning ``size - overlap`` tokens after the one before it.

    A window ends where the next token begins, so without overlap the chunks join up without a gap: the first
    begins at 0, the last ends with the text. The last window may hold fewer tokens. Windows of nothing but
    white space are left out. Raises ``SettingError`` unless ``0 <= overlap < size``.
    """

    @any_line_ends
    def split(self, document: Document, tokens: TokenMap) -> Iterator[Chunk]:
        """The windows of ``document``, in order."""
        text, starts = document.text, tokens.starts
        for first in range(0, max(1, len(starts) - self.overlap), self.size - self.overlap):
            last = first + self.size
            start = int(starts[first]) if first else 0
            end = int(starts[last]) if last < len(starts) else len(text)
            if text[start:end].strip():
                yield Chunk(document.doc_id, start, end)
