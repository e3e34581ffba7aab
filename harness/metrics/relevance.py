"""Evidence as columns, which rows are relevant to it, and at what rank they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.metrics.intervals import Pairs
from harness.metrics.nonblank import NonblankOffsets
from harness.records import Chunks, Evidence, FloatArray, IntArray, Question


class EvidenceColumns(NamedTuple):
    """The evidence of all questions as columns. An evidence and its alternatives are one group.

    ``group_question`` int64 (groups,) ascending. ``span_group`` int64 (spans,) ascending; every group has a
    span. ``span_doc`` int64 (spans,) indexes ``Chunks.documents``; a document that is not there has a
    negative number of its own. ``span_start``, ``span_end`` int64 (spans,) are character offsets, for a whole
    document 0 and its length. ``span_whole`` int64 (spans,), 1 or 0: a whole document. ``span_grade`` float64
    (spans,): the group's grade.
    """

    questions: int
    group_question: IntArray
    span_group: IntArray
    span_doc: IntArray
    span_start: IntArray
    span_end: IntArray
    span_whole: IntArray
    span_grade: FloatArray

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.group_question)

    @property
    def span_question(self) -> IntArray:
        """int64 (spans,): the question of each span."""
        return self.group_question[self.span_group]


def evidence_columns(questions: Sequence[Question], chunks: Chunks) -> EvidenceColumns:
    """The columns of ``questions``. Evidence of grade 0 or less was judged not relevant and is left out."""
    groups: list[int] = []
    missing: dict[str, int] = {}
    spans: list[tuple[int, int, int, int, bool]] = []
    grades: list[float] = []
    for i, question in enumerate(questions):
        for evidence in question.evidence:
            if evidence.grade > 0:
                spans += [(len(groups), *_span(span, chunks, missing)) for span in evidence.places]
                grades += [evidence.grade] * len(evidence.places)
                groups.append(i)
    columns = np.array(spans, dtype=np.int64).reshape(-1, 5).T
    group, doc, start, end, whole = (np.ascontiguousarray(column) for column in columns)
    group_question, grade = np.array(groups, dtype=np.int64), np.array(grades, dtype=np.float64)
    return EvidenceColumns(len(questions), group_question, group, doc, start, end, whole, grade)


def _span(span: Evidence, chunks: Chunks, missing: dict[str, int]) -> tuple[int, int, int, bool]:
    """Document, start, end, whether it is a whole document.

    ``missing`` numbers the documents that are not there.
    """
    doc = chunks.doc_index.get(span.doc_id)
    if doc is None:
        doc = missing.setdefault(span.doc_id, -1 - len(missing))
    if span.start is None or span.end is None:
        return doc, 0, len(chunks.documents[doc].text) if doc >= 0 else 0, True
    return doc, span.start, span.end, False


# The rank of a row that is not in the ranking: below every other.
UNRANKED = np.iinfo(np.int64).max


class Relevant(NamedTuple):
    """Every relevant row of every question, ranked or not; int64 (pairs,) each, by question, then row.

    ``grade``, float64, is the best grade among the evidence it is relevant to. ``rank`` counts from 1,
    ``UNRANKED`` for a row that is not in the ranking.
    """

    question: IntArray
    row: IntArray
    grade: FloatArray
    rank: IntArray

    def rows_of(self, questions: int) -> list[IntArray]:
        """The relevant rows of each question."""
        return np.split(self.row, np.searchsorted(self.question, np.arange(1, questions)))[:questions]


class Overlap(NamedTuple):
    """Places and the chunks they share a non-blank character with.

    ``span``, ``row`` int64 (pairs,); ``low``, ``high`` int64 (pairs,): what they share, in non-blank
    characters of the document; ``of_row``, ``of_span`` int64 (pairs,): non-blank characters of the chunk and
    of the span.
    """

    span: IntArray
    row: IntArray
    low: IntArray
    high: IntArray
    of_row: IntArray
    of_span: IntArray


def nonblank_overlap(
    chunks: Chunks, labels: EvidenceColumns, pairs: Pairs, nonblank: NonblankOffsets
) -> Overlap:
    """What each pair of a span and a chunk shares, white space aside."""
    span, row = pairs
    doc = labels.span_doc[span]
    row_low, row_high = nonblank.before(doc, chunks.start[row]), nonblank.before(doc, chunks.end[row])
    low, high = nonblank.before(doc, labels.span_start[span]), nonblank.before(doc, labels.span_end[span])
    shared_low, shared_high = np.maximum(row_low, low), np.minimum(row_high, high)
    kept = shared_high > shared_low
    columns = (span, row, shared_low, shared_high, row_high - row_low, high - low)
    return Overlap(*(column[kept] for column in columns))


def is_relevant(overlap: Overlap, min_overlap: float) -> npt.NDArray[np.bool_]:
    """For each pair, bool (pairs,): the two share at least ``min_overlap`` of the shorter, white space aside.

    Counted without white space because chunkers may leave it out: so every evidence keeps a relevant chunk
    with any chunker that leaves out nothing else, as long as ``min_overlap`` is at most 0.5.
    """
    shorter: FloatArray = np.minimum(overlap.of_row, overlap.of_span).astype(np.float64)
    # The margin keeps a share such as 3 of 10 from failing 0.3 by a rounding error.
    return overlap.high - overlap.low >= min_overlap * shorter - 1e-9


def best_grades(question: IntArray, row: IntArray, grade: FloatArray, rank: IntArray) -> Relevant:
    """One entry per question and row, with its best grade; (pairs,) each, in any order."""
    order = np.lexsort((-grade, row, question))
    question, row = question[order], row[order]
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (np.diff(question) != 0) | (np.diff(row) != 0)
    return Relevant(question[fresh], row[fresh], grade[order][fresh], rank[order][fresh])


def gaining(
    labels: EvidenceColumns, question: IntArray, row: IntArray, span: IntArray, relevant: Relevant
) -> npt.NDArray[np.bool_]:
    """For each entry of ``relevant``, bool: it gains something, since copies of what was read don't.

    ``question``, ``row``, ``span`` int64 (pairs,): each pair of a row and a span that make up ``relevant``.
    Rows that are relevant to the same groups are of one class. If spans are alternatives of one another, as
    many rows of the class gain as the span with the fewest of them has, the best ranks first.
    """
    if labels.groups == len(labels.span_group):
        return np.ones(len(relevant.row), dtype=np.bool_)
    least = row.min(initial=0)  # a document that is not there has a negative number
    entry = np.unique(question * (1 + row.max(initial=0) - least) + row - least, return_inverse=True)[1]
    once = np.unique(entry * labels.groups + labels.span_group[span])
    # The sum of random codes of the groups stands for the set of them.
    codes = np.random.default_rng(0).integers(0, 1 << 63, labels.groups, dtype=np.int64)
    sets = np.zeros(len(relevant.row), dtype=np.int64)
    np.add.at(sets, once // labels.groups, codes[once % labels.groups])
    _, of_class = np.unique(sets, return_inverse=True)
    rows_of, rows = np.unique(of_class[entry] * len(labels.span_group) + span, return_counts=True)
    fewest = np.full(len(sets), UNRANKED, dtype=np.int64)
    np.minimum.at(fewest, rows_of // len(labels.span_group), rows)
    order = np.lexsort((relevant.rank, of_class))
    ordered = of_class[order]
    gains = np.zeros(len(sets), dtype=np.bool_)
    gains[order] = np.arange(len(sets)) - np.searchsorted(ordered, ordered) < fewest[ordered]
    return gains


def ranks_of(ranking_rows: IntArray, question: IntArray, row: IntArray, rows: int) -> IntArray:
    """int64 (pairs,): the rank, from 1, of each ``row`` in its ``question``'s ranking, else ``UNRANKED``.

    ``question`` must be ascending; a negative row is in no ranking; ``rows`` is how many rows exist. A row
    that stands twice in a ranking counts at its better rank.
    """
    found = np.full(len(row), UNRANKED, dtype=np.int64)
    # One table for all questions, wiped after each: the work is depth + pairs, whatever the number of rows.
    table = np.full(rows + 1, UNRANKED, dtype=np.int64)
    ranks = np.arange(ranking_rows.shape[1], 0, -1)
    asked, first, count = np.unique(question, return_index=True, return_counts=True)
    last = first + count
    for q, low, high in zip(asked, first, last, strict=True):
        backwards = ranking_rows[q, ::-1]
        table[backwards] = ranks
        table[-1] = UNRANKED
        found[low:high] = table[np.maximum(row[low:high], -1)]
        table[backwards] = UNRANKED
    return found
