"""Questions into columns: one row per unit of evidence, one row per place that counts for a unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.records import Chunks, Evidence, IntArray, Question


class Labels(NamedTuple):
    """The evidence of all questions as columns. An evidence and its alternatives are one unit.

    ``unit_question`` int64 (units,) ascending. ``place_unit`` int64 (places,) ascending; every unit has a place.
    ``place_doc`` int64 (places,) indexes ``Chunks.documents``; a document that is not there has a negative number of its own. ``place_start``,
    ``place_end`` int64 (places,) are character offsets, for a whole document 0 and its length. ``place_whole``,
    ``place_own`` int64 (places,), 1 or 0: a whole document; the evidence itself and not an alternative. ``place_grade`` int64
    (places,): the unit's grade.
    """

    questions: int
    unit_question: IntArray
    place_unit: IntArray
    place_doc: IntArray
    place_start: IntArray
    place_end: IntArray
    place_whole: IntArray
    place_own: IntArray
    place_grade: IntArray

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.unit_question)

    @property
    def place_question(self) -> IntArray:
        """int64 (places,): the question of each place."""
        return self.unit_question[self.place_unit]


def read_labels(questions: Sequence[Question], chunks: Chunks) -> Labels:
    """The columns of ``questions``. Evidence of grade 0 or less was judged not relevant and is left out."""
    units: list[int] = []
    missing: dict[str, int] = {}
    places: list[tuple[int, int, int, int, bool, bool, int]] = []
    for i, question in enumerate(questions):
        for evidence in question.evidence:
            if evidence.grade > 0:
                own = [True] + [False] * len(evidence.alternatives)
                places += [
                    (len(units), *_span(place, chunks, missing), is_own, evidence.grade)
                    for place, is_own in zip(evidence.places, own, strict=True)
                ]
                units.append(i)
    columns = np.array(places, dtype=np.int64).reshape(-1, 7).T
    unit, doc, start, end, whole, own_column, grade = (np.ascontiguousarray(column) for column in columns)
    unit_question = np.array(units, dtype=np.int64)
    return Labels(len(questions), unit_question, unit, doc, start, end, whole, own_column, grade)


def _span(place: Evidence, chunks: Chunks, missing: dict[str, int]) -> tuple[int, int, int, bool]:
    """Document, start, end, whether it is a whole document; ``missing`` numbers the documents that are not there."""
    doc = chunks.doc_index.get(place.doc_id)
    if doc is None:
        doc = missing.setdefault(place.doc_id, -1 - len(missing))
    if place.start is None or place.end is None:
        return doc, 0, len(chunks.documents[doc].text) if doc >= 0 else 0, True
    return doc, place.start, place.end, False
