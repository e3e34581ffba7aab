"""The rows that came back as chunks: every distinct span once, in the total order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.records import Chunks, Document, IntArray
from harness.retriever import Row
from harness.retriever.external.locating import Located, key
from harness.text.tokens import Tokenizer, TokenMap

# What a row that is in no document is called, in files and reports.
NOWHERE = "(in no document)"


@dataclass(frozen=True)
class Pool:
    """What came back. ``tokens`` maps ``chunks.documents``; those made up for rows that are in no document stand at the end."""

    chunks: Chunks
    tokens: Sequence[TokenMap]
    row_of_span: Mapping[tuple[int, int, int], int]
    nowhere: Mapping[Row, int]

    def row(self, row: Row, located: Located, *, documents: bool) -> int:
        """The chunk, or the document, that an answer's row is; ``row`` is its ``key``."""
        if documents:
            return located.doc if located.doc >= 0 else self.nowhere[row]
        if located.span is not None:
            return self.row_of_span[located.span]
        doc = self.nowhere[row]
        return self.row_of_span[doc, 0, len(self.chunks.documents[doc].text)]


def uncut(documents: Sequence[Document]) -> Chunks:
    """The documents without any chunk: an external retriever returns its own."""
    nothing = np.zeros(0, np.int64)
    return Chunks(documents, nothing, nothing, nothing, nothing, complete=False)


def pool(
    rows: Iterable[Row],
    located: Mapping[Row, Located],
    documents: Sequence[Document],
    tokens: Sequence[TokenMap],
    tokenizer: Tokenizer,
) -> Pool:
    """The chunks of ``rows``. A row without a span becomes a document of its own behind the others, so that its text is counted as read."""
    keys = dict.fromkeys(map(key, rows))
    lost = [row for row in keys if located[row].span is None]
    nowhere = {row: len(documents) + i for i, row in enumerate(lost)}
    texts = [row.text or " " for row in lost]  # a row of the pool has a character
    if lost:
        made_up = [Document(f"{NOWHERE} {i}", text) for i, text in enumerate(texts, start=1)]
        documents, tokens = [*documents, *made_up], [*tokens, *tokenizer.map(texts)]
    spans = {span for row in keys if (span := located[row].span) is not None}
    ends = {(nowhere[row], 0, len(text)) for row, text in zip(lost, texts, strict=True)}
    ordered = sorted({tuple(span) for span in spans} | ends)
    doc, start, end = np.array(ordered, np.int64).reshape(-1, 3).T
    chunks = Chunks(documents, doc, start, end, _counts(doc, start, end, tokens), complete=False)
    return Pool(chunks, tokens, {(d, s, e): row for row, (d, s, e) in enumerate(ordered)}, nowhere)


def _counts(doc: IntArray, start: IntArray, end: IntArray, tokens: Sequence[TokenMap]) -> IntArray:
    """int64 (spans,): tokens of each; spans of one document stand together."""
    counts = np.zeros(len(doc), np.int64)
    for first, last in _runs(doc):
        low, high = np.searchsorted(tokens[doc[first]].starts, (start[first:last], end[first:last]))
        counts[first:last] = high - low
    return counts


def _runs(doc: IntArray) -> list[tuple[int, int]]:
    borders = [0, *(np.flatnonzero(np.diff(doc)) + 1).tolist(), len(doc)]
    return [(first, last) for first, last in itertools.pairwise(borders) if last > first]
