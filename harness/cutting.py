"""Documents into the columns of their chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.chunker import Chunker
from harness.chunker.check import check_chunks
from harness.records import Chunks, Document, IntArray
from harness.tokens import TokenMap

# So many documents are cut before their chunks become columns: the objects of a million would weigh gigabytes.
_CUT_AT_ONCE = 4096


def cut(documents: Sequence[Document], tokens: Sequence[TokenMap], chunker: Chunker) -> Chunks:
    """All chunks of ``documents`` (sorted by id) as columns, checked against what a chunker promises."""
    columns = [np.zeros((0, 4), np.int64)]
    for first in range(0, len(documents), _CUT_AT_ONCE):
        block = slice(first, first + _CUT_AT_ONCE)
        columns.append(_cut(documents[block], tokens[block], chunker))
        columns[-1][:, 0] += first
    return Chunks(documents, *np.ascontiguousarray(np.concatenate(columns).T))


def _cut(documents: Sequence[Document], tokens: Sequence[TokenMap], chunker: Chunker) -> IntArray:
    """int64 (chunks, 4): position of the document, start, end, tokens."""
    spans: list[tuple[int, int, int]] = []
    for position, (document, token_map) in enumerate(zip(documents, tokens, strict=True)):
        found = check_chunks(document, chunker.split(document, token_map))
        spans += [(position, chunk.start, chunk.end) for chunk in found]
    doc, start, end = np.array(spans, np.int64).reshape(-1, 3).T
    # All documents end to end, a place apart: one search finds the tokens before every border.
    begins = np.cumsum([0, *(len(document.text) + 1 for document in documents)])
    places = np.concatenate([begins[i] + token_map.starts for i, token_map in enumerate(tokens)])
    before = np.searchsorted(places, begins[doc] + np.stack([start, end]))
    return np.stack([doc, start, end, before[1] - before[0]], axis=1)
