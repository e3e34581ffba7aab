"""What a model reads of the chunks: the start of each, up to its maximum sequence length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from harness.metrics.intervals import Pairs, meeting, union_lengths
from harness.metrics.nonblank import NonblankOffsets
from harness.records import Chunks, Encoded, IntArray


def read_part(chunks: Chunks, encoded: Encoded) -> Chunks:
    """The chunks, each ending where the model stopped reading.

    What is put before its text (a title, the headings above it) is read first and takes its room in the window.
    """
    read = np.maximum(encoded.seen_chars - chunks.chars_before, 0) if len(chunks) else encoded.seen_chars
    return replace(chunks, end=np.minimum(chunks.end, chunks.start + read))


def nonblank_inside(
    chunks: Chunks, doc: IntArray, start: IntArray, end: IntArray, nonblank: NonblankOffsets
) -> tuple[IntArray, IntArray, Pairs]:
    """Where chunks lie inside spans: low and high offset in non-blank characters, int64 (pairs,), and the pairs.

    ``doc``, ``start``, ``end`` int64 (spans,) give the spans.
    """
    pairs = meeting(chunks, doc, start, end)
    span, row = pairs
    low = nonblank.before(doc[span], np.maximum(chunks.start[row], start[span]))
    return low, nonblank.before(doc[span], np.minimum(chunks.end[row], end[span])), pairs


def read_nonblank(
    read: Chunks, doc: IntArray, start: IntArray, end: IntArray, nonblank: NonblankOffsets
) -> IntArray:
    """int64 (spans,): non-blank characters of each span that lie in ``read``, each once."""
    low, high, pairs = nonblank_inside(read, doc, start, end, nonblank)
    return union_lengths(pairs.span, low, high, len(doc))
