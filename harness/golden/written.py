"""A question as a line of a golden file."""

from __future__ import annotations

from typing import Any

from harness.records import Evidence, Question


def as_object(question: Question) -> dict[str, Any]:
    """The JSON object that reads back as ``question``."""
    item: dict[str, Any] = {"question_id": question.question_id, "question": question.text}
    item["evidence"] = [evidence_object(unit) for unit in question.evidence]
    item["source"] = question.source
    return item | ({"provenance": dict(question.provenance)} if question.provenance else {})


def evidence_object(unit: Evidence) -> dict[str, Any]:
    """One evidence with its alternatives; what it does not have is left out."""
    item = _place(unit)
    if unit.grade != 1:
        item["grade"] = unit.grade
    if unit.alternatives:
        item["alternatives"] = [_place(other) for other in unit.alternatives]
    return item


def _place(place: Evidence) -> dict[str, Any]:
    given = {"doc_id": place.doc_id, "start": place.start, "end": place.end, "quote": place.quote}
    return {key: value for key, value in given.items() if value is not None}
