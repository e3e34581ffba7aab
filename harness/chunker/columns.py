"""Documents into the columns of their chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from harness.chunker import Chunker, ParentChunker
from harness.chunker.check import check_chunks, check_parents
from harness.records import Chunk, Chunks, Document, IntArray
from harness.text.tokens import TokenMap

# So many documents are cut before their chunks become columns: the objects of a million would weigh gigabytes.
_CUT_AT_ONCE = 4096


def cut(documents: Sequence[Document], tokens: Sequence[TokenMap], chunker: Chunker) -> Chunks:
    """All chunks of ``documents`` (sorted by id) as columns, with their parents if any, checked against what a chunker promises."""
    chunks = _columns(documents, tokens, chunker.split)
    if not isinstance(chunker, ParentChunker):
        return chunks
    chunks = replace(chunks, parents=_columns(documents, tokens, chunker.parents))
    check_parents(chunks, chunks.returned)
    return chunks


def _columns(
    documents: Sequence[Document],
    tokens: Sequence[TokenMap],
    split: Callable[[Document, TokenMap], Iterable[Chunk]],
) -> Chunks:
    columns = [np.zeros((0, 4), np.int64)]
    for first in range(0, len(documents), _CUT_AT_ONCE):
        block = slice(first, first + _CUT_AT_ONCE)
        columns.append(_cut(documents[block], tokens[block], split))
        columns[-1][:, 0] += first
    return Chunks(documents, *np.ascontiguousarray(np.concatenate(columns).T))


def _cut(
    documents: Sequence[Document],
    tokens: Sequence[TokenMap],
    split: Callable[[Document, TokenMap], Iterable[Chunk]],
) -> IntArray:
    """int64 (chunks, 4): position of the document, start, end, tokens."""
    spans: list[tuple[int, int, int]] = []
    for position, (document, token_map) in enumerate(zip(documents, tokens, strict=True)):
        found = check_chunks(document, split(document, token_map))
        spans += [(position, chunk.start, chunk.end) for chunk in found]
    doc, start, end = np.array(spans, np.int64).reshape(-1, 3).T
    # All documents end to end, a place apart: one search finds the tokens before every border.
    begins = np.cumsum([0, *(len(document.text) + 1 for document in documents)])
    places = np.concatenate([begins[i] + token_map.starts for i, token_map in enumerate(tokens)])
    before = np.searchsorted(places, begins[doc] + np.stack([start, end]))
    return np.stack([doc, start, end, before[1] - before[0]], axis=1)
