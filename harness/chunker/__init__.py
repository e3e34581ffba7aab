"""Documents into chunks, each an exact span.

Promises, for every text: chunks come in the order of ``start`` and then ``end``, both of which never decrease
and of which at least one grows from chunk to chunk; a chunk is never empty or blank; every character that is
not white space lies in some chunk; a chunk has at most ``size`` tokens of the sweep's tokenizer (``whole``
has no limit). A document of nothing but white space has no chunks.

A chunker may have a second method, ``parents``: the larger spans that are returned in the place of its
chunks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from harness.records import Chunk, Document
from harness.text.tokens import TokenMap


class Chunker(Protocol):
    """Anything that cuts a document into spans."""

    def split(self, document: Document, tokens: TokenMap) -> Iterable[Chunk]:
        """The chunks of ``document``, whose tokens are ``tokens``."""


@runtime_checkable
class ParentChunker(Chunker, Protocol):
    """A chunker whose chunks are searched, and whose parents are returned."""

    def parents(self, document: Document, tokens: TokenMap) -> Iterable[Chunk]:
        """What is returned: spans in order that don't overlap, so that each chunk lies in exactly one."""
