"""Each document as one chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.records import Chunk, Document
from harness.text.tokens import TokenMap


@dataclass(frozen=True)
class Whole:
    """One chunk a document, from its first character to its last, however long; none when it is blank."""

    def split(self, document: Document, tokens: TokenMap) -> Iterator[Chunk]:  # noqa: ARG002 - the stage's protocol
        """The document as one chunk."""
        if document.text.strip():
            yield Chunk(document.doc_id, 0, len(document.text))
