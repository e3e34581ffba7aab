"""Characters pooled over all evidence of a question, as the published chunking report counts them.

Source: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval", 2024. Plain characters, white
space included, a line end of any kind as one; the evidence itself, without its alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.metrics.intervals import cut_into_pieces, meeting, sum_by, union_lengths
from harness.metrics.relevance import EvidenceColumns, ranks_of
from harness.records import Chunks, FloatArray, IntArray, Ranking
from harness.text.encodings import LineEnds


@dataclass(frozen=True)
class Characters:
    """What was found of the labelled characters.

    ``gold`` int64 (questions,): labelled characters, each once. ``perfect`` float64 (questions,): precision
    when exactly the chunks that touch a label come back, nan where not all chunks are known. ``piece_*``
    int64 (pieces,): question, length, and rank of the first row holding a piece of the label. ``retrieved``
    int64 (questions, depth): characters of the rows so far, shared ones counted again.
    """

    gold: IntArray
    perfect: FloatArray
    piece_question: IntArray
    piece_length: IntArray
    piece_rank: IntArray
    retrieved: IntArray

    def found(self, k: int) -> IntArray:
        """int64 (questions,): labelled characters in the first ``k`` rows, each once."""
        read = np.where(self.piece_rank <= k, self.piece_length, 0)
        return sum_by(self.piece_question, read, len(self.gold)).astype(np.int64)

    def retrieved_at(self, k: int) -> IntArray:
        """int64 (questions,): characters of the first ``k`` rows, those that rows share counted again."""
        questions, depth = self.retrieved.shape
        if not depth or k < 1:
            return np.zeros(questions, dtype=np.int64)
        return self.retrieved[:, min(k, depth) - 1]


def count_characters(chunks: Chunks, labels: EvidenceColumns, ranking: Ranking, deepest: int) -> Characters:
    """Counts for rankings of chunks, down to rank ``deepest``."""
    chunks, labels = _with_short_line_ends(chunks, labels)
    question, doc, start, end = _gold_spans(labels)
    gold = np.zeros(labels.questions, dtype=np.int64)
    np.add.at(gold, question, end - start)
    lengths = np.concatenate((chunks.end - chunks.start, [0]))
    retrieved = np.cumsum(lengths[ranking.rows[:, :deepest]], axis=1, dtype=np.int64)
    span, row = meeting(chunks, doc, start, end)
    low, high = np.maximum(chunks.start[row], start[span]), np.minimum(chunks.end[row], end[span])
    pieces = cut_into_pieces(span, low, high)
    rank = ranks_of(ranking.rows, question[span], row, len(chunks))
    perfect = np.full(labels.questions, np.nan)
    if chunks.complete:
        perfect = _perfect_precision(chunks, question, doc, start, end, labels.questions)
    return Characters(gold, perfect, question[pieces.span], pieces.length, pieces.smallest(rank), retrieved)


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


def _gold_spans(labels: EvidenceColumns) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Question, document, start and end of the labels, those of one question that meet merged into one."""
    own = (labels.span_own == 1) & (labels.span_end > labels.span_start)
    question, doc = labels.span_question[own], labels.span_doc[own]
    start, end = labels.span_start[own], labels.span_end[own]
    order = np.lexsort((start, doc, question))
    question, doc, start, end = question[order], doc[order], start[order], end[order]
    stride = 1 + int(end.max(initial=0))
    group = np.cumsum(np.concatenate(([0], (np.diff(question) != 0) | (np.diff(doc) != 0))))[: len(question)]
    reach = np.maximum.accumulate(group * stride + end)
    new = np.ones(len(question), dtype=np.bool_)
    new[1:] = group[1:] * stride + start[1:] > reach[:-1]
    last = np.concatenate((np.nonzero(new)[0][1:], [len(question)]))[: int(new.sum())] - 1
    return question[new], doc[new], start[new], reach[last] - group[last] * stride


def _perfect_precision(
    chunks: Chunks, question: IntArray, doc: IntArray, start: IntArray, end: IntArray, questions: int
) -> FloatArray:
    """float64 (questions,): labelled characters in the chunks that touch a label / those chunks and labels.

    Both are unions. Intervals are closed, as in the report: a chunk that only borders on a label counts below
    the line; so does what of the labels lies in no chunk.
    """
    span, row = meeting(chunks, doc, start, end, touching=True)
    place, group = np.unique(question[span] * len(chunks.documents) + chunks.doc[row], return_inverse=True)
    touched = union_lengths(group, chunks.start[row], chunks.end[row], len(place))
    low, high = np.maximum(chunks.start[row], start[span]), np.minimum(chunks.end[row], end[span])
    found = union_lengths(group, low, high, len(place))
    owner = place // max(len(chunks.documents), 1)
    above, missed = sum_by(owner, found, questions), sum_by(question, end - start, questions)
    below = sum_by(owner, touched, questions) + missed - above
    return above / np.maximum(below, 1)
