"""Small chunks that are searched, within the larger ones that are returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from harness.chunker.markdown import Markdown
from harness.chunker.pack import Sized, any_line_ends, trim
from harness.chunker.recursive import Recursive
from harness.errors import SettingError, whole
from harness.records import Chunk, Document
from harness.text.markdown import read_blocks
from harness.text.tokens import TokenMap


@dataclass(frozen=True)
class Parent:
    """Chunks of at most ``size`` tokens, each within a parent of at most ``parent`` tokens.

    A small chunk is about one thing, so it is found; the section around it says what it means, so it is
    returned. Parents are cut as by ``Markdown`` where the document has any headings and as by ``Recursive``
    where it has none, and each parent of more than ``size`` tokens once more in the same way; a smaller one
    is its own only chunk.

    ``size``, ``parent``, ``overlap``: tokens. A chunk repeats the end of the one before it in its parent, at
    most ``overlap`` tokens; parents share nothing. Raises ``SettingError`` unless ``0 <= overlap < size <=
    parent``.
    """

    size: int
    parent: int
    overlap: int = 0

    def __post_init__(self) -> None:
        Sized(self.size, self.overlap)  # checks both
        if whole(self.parent, "chunker.parent", 1, of="tokens") < self.size:
            raise SettingError(
                f"chunker.parent is {self.parent}; it must be at least chunk={self.size}. "
                "Raise it or lower chunk.",
                key="chunker.parent",
            )

    @any_line_ends
    def parents(self, document: Document, tokens: TokenMap) -> Iterator[Chunk]:
        """What is returned of ``document``, in order."""
        kind = Markdown if (read_blocks(document.text).kinds > 0).any() else Recursive
        return kind(self.parent).split(document, tokens)

    @any_line_ends
    def split(self, document: Document, tokens: TokenMap) -> Iterator[Chunk]:
        """What is searched of ``document``, in order."""
        # A part of a text does not tell whether it is code: the blocks are those of the whole.
        blocks = read_blocks(document.text)
        finer: Callable[..., Iterator[tuple[int, int]]] = Recursive(self.size, self.overlap).spans
        if (blocks.kinds > 0).any():
            finer = partial(Markdown(self.size, self.overlap).spans, blocks=blocks)
        for parent in self.parents(document, tokens):
            if tokens.count(parent.start, parent.end) <= self.size:
                yield parent
            else:
                yield from trim(document, finer(document.text, tokens, parent[1:]))
