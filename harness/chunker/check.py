"""What every chunker's settings and, for foreign chunkers, chunks must fulfil."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from harness.errors import SettingError
from harness.records import Chunk, Chunks, Document

SHOWN_CHARS = 40


def check_size(size: int, overlap: int = 0) -> None:
    """Raises ``SettingError`` unless ``size`` is at least 1 and ``overlap`` is in ``[0, size)``, both in tokens."""
    if size < 1:
        raise SettingError(
            f"chunk is {size} tokens; it must be at least 1. Set chunk=256 or so.", key="chunk"
        )
    if overlap < 0:
        raise SettingError(
            f"overlap is {overlap} tokens; it must be at least 0. Set overlap=0 for none.", key="overlap"
        )
    if overlap >= size:
        raise SettingError(
            f"overlap is {overlap} tokens; it must be below chunk={size}. Lower overlap or raise chunk.",
            key="overlap",
        )


def check_chunks(document: Document, chunks: Iterable[Any]) -> list[Chunk]:
    """The chunks of ``document`` as a list, once each has proved to be a span of it; for chunkers of the user's own.

    Checked: ``doc_id``; ``0 <= start < end <= len(text)``; not only white space; ``start`` and ``end`` never
    decrease and one of them grows. Text that no chunk holds is allowed here (headers may be left out on purpose;
    the diagnosis then says ``not_in_index``), and so is any size. Raises ``SettingError`` at the first fault.
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
    """Raises ``SettingError`` at the first of ``parents`` that overlaps the one before it, and of ``chunks`` that lies in none of them."""
    again = (np.diff(parents.doc) == 0) & (parents.start[1:] < parents.end[:-1])
    if again.any():
        raise _wrong_parent(parents, int(again.argmax()) + 1, "parent", "overlaps the one before it")
    stride = 1 + int(chunks.start.max(initial=0)) + int(parents.start.max(initial=0))
    places, starts = chunks.doc * stride + chunks.start, parents.doc * stride + parents.start
    owner = np.searchsorted(starts, places, side="right") - 1  # -1 is none
    doc, end = np.append(parents.doc, -1)[owner], np.append(parents.end, -1)[owner]
    outside = (chunks.doc != doc) | (chunks.end > end)
    if outside.any():
        raise _wrong_parent(chunks, int(outside.argmax()), "chunk", "lies in none of its parents")


def _wrong_parent(chunks: Chunks, row: int, what: str, reason: str) -> SettingError:
    doc_id = chunks.documents[chunks.doc[row]].doc_id
    return SettingError(
        f"The chunker's {what} from {chunks.start[row]} to {chunks.end[row]} of document {doc_id!r} {reason}. Parents must not overlap, and every "
        "chunk must lie in one.",
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
        return f"it goes back behind the chunk before it, {tuple(previous)}; give chunks by start, then end"
    if chunk == previous:
        return "it is the same as the chunk before it"
    return None


def _error(document: Document, position: int, given: Any, reason: str) -> SettingError:
    """The error for the chunk at ``position``, counted from 1 as a reader does."""
    shown = repr(given)
    shown = shown if len(shown) <= 3 * SHOWN_CHARS else shown[: 3 * SHOWN_CHARS] + "..."
    return SettingError(
        f"The chunker's chunk {position + 1} of document {document.doc_id!r} is {shown}: {reason}. Offsets are Python "
        "string offsets (characters, not bytes or tokens) into the document's text.",
        key="chunker",
    )
