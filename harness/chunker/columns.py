"""Documents into the columns of their chunks, checked against what a chunker promises."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from harness.chunker import Chunker, ParentChunker
from harness.errors import SettingError
from harness.records import Chunk, Chunks, Document, IntArray
from harness.text.tokens import TokenMap

# Documents cut before their chunks become columns: the objects of a million would weigh gigabytes.
_CUT_AT_ONCE = 4096
_SHOWN_CHARACTERS = 120
_Split: TypeAlias = Callable[[Document, TokenMap], Iterable[Chunk]]


def cut(documents: Sequence[Document], tokens: Sequence[TokenMap], chunker: Chunker) -> Chunks:
    """All chunks of ``documents`` (sorted by id) as columns, with their parents if any.

    Raises ``SettingError`` where the chunker breaks a promise of ``harness.chunker``.
    """
    chunks = _columns(documents, tokens, chunker.split)
    if not isinstance(chunker, ParentChunker):
        return chunks
    chunks = replace(chunks, parents=_columns(documents, tokens, chunker.parents))
    check_parents(chunks, chunks.returned)
    return chunks


def check_chunks(document: Document, chunks: Iterable[Any]) -> list[Chunk]:
    """The chunks of ``document`` as a list, each checked; for chunkers of the user's own.

    Checked: ``doc_id``; ``0 <= start < end <= len(text)``; not only white space; ``start`` and ``end`` never
    decrease and one of them grows. Text that no chunk holds is allowed here (headers may be left out on
    purpose; the diagnosis then says ``not_in_index``), and so is any size. Raises ``SettingError`` at the
    first fault.
    """
    checked: list[Chunk] = []
    for position, given in enumerate(chunks):
        chunk = _as_chunk(document, position, given)
        reason = _fault(document, chunk, checked[-1] if checked else None)
        if reason:
            raise _error(document, position, tuple(chunk), reason)
        checked.append(chunk)
    return checked


def check_parents(chunks: Chunks, parents: Chunks) -> None:
    """Raises ``SettingError`` where a parent overlaps the one before it or a chunk lies in no parent."""
    again = (np.diff(parents.doc) == 0) & (parents.start[1:] < parents.end[:-1])
    if again.any():
        raise _wrong_parent(parents, int(again.argmax()) + 1, "parent", "overlaps the one before it")
    stride = 1 + int(chunks.start.max(initial=0)) + int(parents.start.max(initial=0))
    starts, parent_starts = (some.doc * stride + some.start for some in (chunks, parents))
    owner = np.searchsorted(parent_starts, starts, side="right") - 1  # -1 is none
    doc, end = np.append(parents.doc, -1)[owner], np.append(parents.end, -1)[owner]
    outside = (chunks.doc != doc) | (chunks.end > end)
    if outside.any():
        raise _wrong_parent(chunks, int(outside.argmax()), "chunk", "lies in none of its parents")


def _columns(documents: Sequence[Document], tokens: Sequence[TokenMap], split: _Split) -> Chunks:
    columns = [np.zeros((0, 4), np.int64)]
    for first in range(0, len(documents), _CUT_AT_ONCE):
        block = slice(first, first + _CUT_AT_ONCE)
        columns.append(_cut(documents[block], tokens[block], split))
        columns[-1][:, 0] += first
    return Chunks(documents, *np.ascontiguousarray(np.concatenate(columns).T))


def _cut(documents: Sequence[Document], tokens: Sequence[TokenMap], split: _Split) -> IntArray:
    """int64 (chunks, 4): position of the document, start, end, tokens."""
    spans: list[tuple[int, int, int]] = []
    for position, (document, token_map) in enumerate(zip(documents, tokens, strict=True)):
        found = check_chunks(document, split(document, token_map))
        spans += [(position, chunk.start, chunk.end) for chunk in found]
    doc, start, end = np.array(spans, np.int64).reshape(-1, 3).T
    # All documents end to end, one position apart: one search finds the tokens before every border.
    begins = np.cumsum([0, *(len(document.text) + 1 for document in documents)])
    token_starts = np.concatenate([begins[i] + token_map.starts for i, token_map in enumerate(tokens)])
    before = np.searchsorted(token_starts, begins[doc] + np.stack([start, end]))
    return np.stack([doc, start, end, before[1] - before[0]], axis=1)


def _wrong_parent(chunks: Chunks, row: int, what: str, reason: str) -> SettingError:
    doc_id = chunks.documents[chunks.doc[row]].doc_id
    return SettingError(
        f"The chunker's {what} from {chunks.start[row]} to {chunks.end[row]} of document {doc_id!r} "
        f"{reason}. Parents must not overlap, and every chunk must lie in one.",
        key="chunker",
    )


def _as_chunk(document: Document, position: int, given: Any) -> Chunk:
    """``given`` as a ``Chunk`` with plain integers, whatever kind of integer it held."""
    try:
        doc_id, start, end = given
        return Chunk(doc_id, operator.index(start), operator.index(end))
    except (TypeError, ValueError) as error:
        raise _error(
            document, position, given, "it must be Chunk(doc_id, start, end) with integer offsets"
        ) from error


def _fault(document: Document, chunk: Chunk, previous: Chunk | None) -> str | None:
    """What is wrong with ``chunk``, which came after ``previous``; None when nothing is."""
    length = len(document.text)
    if chunk.doc_id != document.doc_id:
        return "it names another document"
    if not 0 <= chunk.start < chunk.end <= length:
        return f"offsets must fulfil 0 <= start < end <= {length}, the document's length in characters"
    if document.text[chunk.start : chunk.end].isspace():
        return "there is nothing but white space at these offsets"
    if previous and (chunk.start < previous.start or chunk.end < previous.end):
        precedes = f"it begins or ends before the chunk that precedes it, {tuple(previous)}"
        return f"{precedes}; give chunks by start, then end"
    if chunk == previous:
        return "it equals the chunk that precedes it"
    return None


def _error(document: Document, position: int, given: Any, reason: str) -> SettingError:
    """The error for the chunk at ``position``, counted from 1 as a reader does."""
    shown = repr(given)
    shown = shown if len(shown) <= _SHOWN_CHARACTERS else shown[:_SHOWN_CHARACTERS] + "..."
    return SettingError(
        f"The chunker's chunk {position + 1} of document {document.doc_id!r} is {shown}: {reason}. Offsets "
        "are Python string offsets (characters, not bytes or tokens) into the document's text.",
        key="chunker",
    )
