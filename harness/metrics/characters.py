"""Characters pooled over all evidence of a question, as the published chunking report counts them.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", 2024. Plain characters, white
space included, a line end of any kind as one. The report knows no alternatives: of an evidence and its
alternatives, one span counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from harness.metrics.intervals import Pairs, meeting, sum_by, union_lengths
from harness.metrics.relevance import UNRANKED, EvidenceColumns, ranks_of
from harness.records import Chunks, FloatArray, IntArray, Ranking
from harness.text.encodings import LineEnds


@dataclass(frozen=True)
class Characters:
    """What was found of the labelled characters.

    ``gold``, ``found``: k to int64 (questions,), the labelled characters and those in the first k rows, each
    once. ``perfect`` float64 (questions,): precision when exactly the chunks that touch a label or one of its
    alternatives come back, nan where not all chunks are known. ``retrieved`` int64 (questions, depth):
    characters of the rows so far, shared ones counted again.
    """

    gold: Mapping[int, IntArray]
    found: Mapping[int, IntArray]
    perfect: FloatArray
    retrieved: IntArray

    def retrieved_at(self, k: int) -> IntArray:
        """int64 (questions,): characters of the first ``k`` rows, those that rows share counted again."""
        questions, depth = self.retrieved.shape
        if not depth or k < 1:
            return np.zeros(questions, dtype=np.int64)
        return self.retrieved[:, min(k, depth) - 1]


def count_characters(
    chunks: Chunks, labels: EvidenceColumns, ranking: Ranking, ks: Sequence[int]
) -> Characters:
    """Counts for rankings of chunks, at every k."""
    chunks, labels = _with_short_line_ends(chunks, labels)
    lengths = np.concatenate((chunks.end - chunks.start, [0]))
    retrieved = np.cumsum(lengths[ranking.rows[:, : max(ks, default=0)]], axis=1, dtype=np.int64)
    span, row = meeting(chunks, labels.span_doc, labels.span_start, labels.span_end)
    low, high = _shared(chunks, labels, Pairs(span, row))
    rank = ranks_of(ranking.rows, labels.span_question[span], row, len(chunks))
    first = np.full(len(labels.span_doc), UNRANKED, dtype=np.int64)
    np.minimum.at(first, span, rank)
    gold, found = {}, {}
    for k in ks:
        top = rank <= k
        counts = _counting_spans(labels, union_lengths(span[top], low[top], high[top], len(first)), first)
        gold[k] = _pooled(labels, counts, labels.span_start[counts], labels.span_end[counts])
        top &= np.isin(span, counts)
        found[k] = _pooled(labels, span[top], low[top], high[top])
    perfect = np.full(labels.questions, np.nan)
    return Characters(gold, found, _perfect(chunks, labels) if chunks.complete else perfect, retrieved)


def _counting_spans(labels: EvidenceColumns, read: IntArray, first: IntArray) -> IntArray:
    """int64 (groups,): the span of each group of which the largest share was read.

    Of equals the longest, then the one whose ``first`` row has the best rank. ``read`` int64 (spans,):
    characters.
    """
    length = labels.span_end - labels.span_start
    order = np.lexsort((first, -length, -read / np.maximum(length, 1), labels.span_group))
    return order[np.searchsorted(labels.span_group, np.arange(labels.groups))]


def _with_short_line_ends(chunks: Chunks, labels: EvidenceColumns) -> tuple[Chunks, EvidenceColumns]:
    r"""Both with the offsets that they would have if every ``\r\n`` were one character."""
    columns = (chunks.start, chunks.end, labels.span_start, labels.span_end)
    start, end, span_start, span_end = columns
    for position, document in enumerate(chunks.documents):
        if "\r\n" in document.text:
            if start is chunks.start:
                start, end, span_start, span_end = (column.copy() for column in columns)
            shorter = LineEnds(document.text).in_unified
            rows, spans = slice(*chunks.doc_rows[position : position + 2]), labels.span_doc == position
            start[rows], end[rows] = shorter(start[rows]), shorter(end[rows])
            span_start[spans], span_end[spans] = shorter(span_start[spans]), shorter(span_end[spans])
    return replace(chunks, start=start, end=end), labels._replace(span_start=span_start, span_end=span_end)


def _pooled(labels: EvidenceColumns, span: IntArray, low: IntArray, high: IntArray) -> IntArray:
    """int64 (questions,): characters of the intervals in their spans' documents, those that meet once."""
    doc = labels.span_doc - labels.span_doc.min(initial=0)
    width = 1 + int(doc.max(initial=0))
    place, group = np.unique(labels.span_question[span] * width + doc[span], return_inverse=True)
    lengths = union_lengths(group, low, high, len(place))
    return sum_by(place // width, lengths, labels.questions).astype(np.int64)


def _shared(chunks: Chunks, labels: EvidenceColumns, pairs: Pairs) -> tuple[IntArray, IntArray]:
    """Where the characters that each pair has in common begin and end."""
    span, row = pairs
    low = np.maximum(chunks.start[row], labels.span_start[span])
    return low, np.minimum(chunks.end[row], labels.span_end[span])


def _perfect(chunks: Chunks, labels: EvidenceColumns) -> FloatArray:
    """float64 (questions,): labelled characters in the chunks that touch a label / those chunks and labels.

    All are unions. Intervals are closed, as in the report: a chunk that only borders on a label counts below
    the line; so does what of the labels lies in no chunk.
    """
    start, end = labels.span_start, labels.span_end
    pairs = meeting(chunks, labels.span_doc, start, end, touching=True)
    found = _pooled(labels, pairs.span, *_shared(chunks, labels, pairs))
    touched = _pooled(labels, pairs.span, chunks.start[pairs.row], chunks.end[pairs.row])
    gold = _pooled(labels, np.arange(len(start)), start, end)
    share: FloatArray = found / np.maximum(touched + gold - found, 1)
    return share
