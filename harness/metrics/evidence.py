"""Questions into columns: one row per group of evidence, one row per span that counts for a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.records import Chunks, Evidence, IntArray, Question


class EvidenceColumns(NamedTuple):
    """The evidence of all questions as columns. An evidence and its alternatives are one group.

    ``group_question`` int64 (groups,) ascending. ``span_group`` int64 (spans,) ascending; every group has a span.
    ``span_doc`` int64 (spans,) indexes ``Chunks.documents``; a document that is not there has a negative number of its own. ``span_start``,
    ``span_end`` int64 (spans,) are character offsets, for a whole document 0 and its length. ``span_whole``,
    ``span_own`` int64 (spans,), 1 or 0: a whole document; the evidence itself and not an alternative. ``span_grade`` int64
    (spans,): the group's grade.
    """

    questions: int
    group_question: IntArray
    span_group: IntArray
    span_doc: IntArray
    span_start: IntArray
    span_end: IntArray
    span_whole: IntArray
    span_own: IntArray
    span_grade: IntArray

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
    spans: list[tuple[int, int, int, int, bool, bool, int]] = []
    for i, question in enumerate(questions):
        for evidence in question.evidence:
            if evidence.grade > 0:
                own = [True] + [False] * len(evidence.alternatives)
                spans += [
                    (len(groups), *_span(span, chunks, missing), is_own, evidence.grade)
                    for span, is_own in zip(evidence.places, own, strict=True)
                ]
                groups.append(i)
    columns = np.array(spans, dtype=np.int64).reshape(-1, 7).T
    group, doc, start, end, whole, own_column, grade = (np.ascontiguousarray(column) for column in columns)
    group_question = np.array(groups, dtype=np.int64)
    return EvidenceColumns(len(questions), group_question, group, doc, start, end, whole, own_column, grade)


def _span(span: Evidence, chunks: Chunks, missing: dict[str, int]) -> tuple[int, int, int, bool]:
    """Document, start, end, whether it is a whole document; ``missing`` numbers the documents that are not there."""
    doc = chunks.doc_index.get(span.doc_id)
    if doc is None:
        doc = missing.setdefault(span.doc_id, -1 - len(missing))
    if span.start is None or span.end is None:
        return doc, 0, len(chunks.documents[doc].text) if doc >= 0 else 0, True
    return doc, span.start, span.end, False
