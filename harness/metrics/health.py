"""What a model reads of the chunks; sizes and truncation, which say whether to trust a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from harness.metrics.intervals import Pairs, meeting, union_lengths
from harness.metrics.nonblank import NonblankOffsets
from harness.metrics.relevance import evidence_columns
from harness.records import Chunks, Encoded, IntArray, Question


def read_part(chunks: Chunks, encoded: Encoded) -> Chunks:
    """The chunks, each ending where the model stopped reading.

    What is put before its text (a title, the headings above it) is read first and takes its room in the
    window.
    """
    read = np.maximum(encoded.seen_chars - chunks.chars_before, 0) if len(chunks) else encoded.seen_chars
    return replace(chunks, end=np.minimum(chunks.end, chunks.start + read))


def nonblank_inside(
    chunks: Chunks, doc: IntArray, start: IntArray, end: IntArray, nonblank: NonblankOffsets
) -> tuple[IntArray, IntArray, Pairs]:
    """Where chunks lie inside spans: low and high offset in non-blank characters, and the pairs.

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


def health(chunks: Chunks, encoded: Encoded | None, questions: Sequence[Question]) -> dict[str, float]:
    """Figures that stand beside a cell's scores.

    ``chunks``: how many. ``chunk_tokens_mean``, ``chunk_tokens_p95``: their size in the sweep's tokens
    (nearest rank). ``truncated_chunks``: how many the model could not read to their end.
    ``truncated_tokens``, ``truncated_evidence``: share, in [0, 1], of the text's tokens and of the questions'
    evidence beyond the model's maximum sequence length. These describe the chunks that are searched; where
    larger parents are returned, ``parent_chunks``, ``parent_chunk_tokens_mean`` and
    ``parent_chunk_tokens_p95`` stand beside them. ``encoded`` None means that no model read the chunks:
    nothing is truncated. Of chunks that are not all known nothing can be said: the shares are nan, the other
    figures are left out.
    """
    if not chunks.complete:
        return {"truncated_tokens": float("nan"), "truncated_evidence": float("nan")}
    figures = _sizes(chunks)
    if chunks.parents is not None:
        figures |= {f"parent_{name}": value for name, value in _sizes(chunks.parents).items()}
    if encoded is None or not len(chunks):
        return figures | {"truncated_chunks": 0.0, "truncated_tokens": 0.0, "truncated_evidence": 0.0}
    return figures | {
        "truncated_chunks": float(np.count_nonzero(encoded.seen_tokens < encoded.tokens)),
        "truncated_tokens": truncated_tokens(chunks, encoded),
        "truncated_evidence": truncated_evidence(chunks, encoded, questions),
    }


def _sizes(chunks: Chunks) -> dict[str, float]:
    tokens = chunks.tokens
    return {
        "chunks": float(len(chunks)),
        "chunk_tokens_mean": float(tokens.mean()) if len(chunks) else 0.0,
        "chunk_tokens_p95": float(np.percentile(tokens, 95, method="inverted_cdf")) if len(chunks) else 0.0,
    }


def truncated_tokens(chunks: Chunks, encoded: Encoded) -> float:
    """The share of the text's tokens, in the model's tokenizer, that is truncated in every chunk, in [0, 1].

    A character that is read in any chunk is not truncated. Exact where chunks do not overlap; where they do,
    a chunk's tokens are taken as spread evenly, over the characters read and over the truncated ones, and
    each character is counted once.
    """
    within = read_part(chunks, encoded)
    prefix = chunks.chars_before
    read = np.minimum(encoded.seen_chars, prefix + chunks.end - chunks.start)
    head_density = encoded.seen_tokens / np.maximum(read, 1)
    tail = prefix + chunks.end - chunks.start - read
    tail_density = (encoded.tokens - encoded.seen_tokens) / np.maximum(tail, 1)
    stride = 1 + int(chunks.end.max(initial=0))
    reach = np.maximum.accumulate(chunks.doc * stride + chunks.end)
    before = np.maximum(np.concatenate(([0], reach[:-1])) - chunks.doc * stride, 0)
    # Each character is counted in the first chunk that holds it.
    new = np.minimum(np.maximum(chunks.start, before), chunks.end)
    new_tail = np.maximum(new, within.end)
    pairs = meeting(within, chunks.doc, new_tail, chunks.end)
    low = np.maximum(within.start[pairs.row], new_tail[pairs.span])
    high = np.minimum(within.end[pairs.row], chunks.end[pairs.span])
    elsewhere = union_lengths(pairs.span, low, high, len(chunks))
    everything = head_density * (new_tail - new) + tail_density * (chunks.end - new_tail)
    truncated = tail_density * (chunks.end - new_tail - elsewhere)
    return float(truncated.sum() / everything.sum()) if everything.sum() > 0 else 0.0


def truncated_evidence(chunks: Chunks, encoded: Encoded, questions: Sequence[Question]) -> float:
    """The share of evidence characters, white space aside, that is truncated, in [0, 1].

    Of an evidence and its alternatives the one that is read best counts. Evidence in documents that are not
    in the corpus is left out: it is lost, not truncated.
    """
    labels = evidence_columns(questions, chunks)
    if not labels.groups:
        return 0.0
    doc, start, end = labels.span_doc, labels.span_start, labels.span_end
    nonblank = NonblankOffsets(chunks.documents, doc)
    total = nonblank.before(doc, end) - nonblank.before(doc, start)
    total = np.where(doc < 0, 0, total)
    truncated = total - read_nonblank(read_part(chunks, encoded), doc, start, end, nonblank)
    # A span whose document is not there loses against every other.
    share = np.where(doc < 0, 2.0, truncated / np.maximum(total, 1))
    order = np.lexsort((share, labels.span_group))
    best = order[np.searchsorted(labels.span_group, np.arange(labels.groups))]
    return float(truncated[best].sum() / max(int(total[best].sum()), 1))
