"""A question and its evidence as JSON, read and written.

Three layouts are told apart by their keys: our own (``evidence``), positions or ids of the right passage
(``gold_id``), and ids of the right documents (``relevant_doc_ids``). Nothing is looked up in a document here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast, get_args

from harness.golden.jsonl import (
    FieldError,
    as_list,
    check_keys,
    identifier,
    one_of,
    shown,
    text,
    whole_number,
)
from harness.records import Evidence, Question, Source

IDS = ("question_id", "id", "_id", "qid")
_QUESTIONS = ("question", "query", "text")
_LABELS = ("evidence", "gold_id", "relevant_doc_ids")
_BESIDE = ("source", "provenance", "metadata", "answer", "kind")
_ALLOWED = frozenset((*IDS, *_QUESTIONS, *_LABELS, *_BESIDE))
LOST = "LOST"  # written by the check beside evidence that is known to be gone; it is looked for all the same
_PLACE = frozenset(("doc_id", "start", "end", "quote"))


class Draft(NamedTuple):
    """A question as it stands in line ``line``.

    ``evidence`` may have a quote without offsets, or no ``doc_id`` (an empty text): it is looked for.
    ``positions`` are gold ids given as numbers.
    """

    line: int
    question_id: str
    text: str
    evidence: tuple[Evidence, ...]
    positions: tuple[int, ...]
    source: Source
    provenance: Mapping[str, Any]


def draft_of(line: int, item: Mapping[str, Any]) -> Draft:
    """The question in ``item``. Raises ``FieldError`` for anything that is not as it must be."""
    check_keys(item, _ALLOWED, "a question")
    key = one_of(item, _QUESTIONS, "the question")
    if key is None:
        raise FieldError('no question: a text is expected under "question" (or "query" or "text").')
    question = text(item, key)
    label = one_of(item, _LABELS, "the evidence")
    if label is None or item[label] == []:
        raise FieldError(f"no evidence: one of {', '.join(_LABELS)} is expected, with at least one entry.")
    evidence, positions = _labels(label, item[label])
    id_key = one_of(item, IDS, "the question's id")
    question_id = identifier(item[id_key], id_key) if id_key else f"q{line:04d}"
    provenance = {key: item[key] for key in ("answer", "metadata") if item.get(key) is not None}
    if not isinstance(item.get("provenance") or {}, dict):
        raise FieldError(f"provenance is {shown(item['provenance'])}; an object is expected.")
    provenance |= item.get("provenance") or {}
    return Draft(line, question_id, question, evidence, positions, _source(item), provenance)


def _source(item: Mapping[str, Any]) -> Source:
    source = item.get("source", "import")
    if source not in get_args(Source):
        raise FieldError(f"source is {shown(source)}; allowed are {', '.join(get_args(Source))}.")
    return cast(Source, source)


def _labels(key: str, value: Any) -> tuple[tuple[Evidence, ...], tuple[int, ...]]:
    if key == "evidence":
        if not isinstance(value, list):
            raise FieldError(f"evidence is {shown(value)}; a list of objects is expected.")
        return tuple(_evidence(item, i) for i, item in enumerate(value)), ()
    if key == "relevant_doc_ids":
        return tuple(Evidence(identifier(doc_id, key)) for doc_id in as_list(value)), ()
    given = as_list(value)
    positions = [entry for entry in given if isinstance(entry, int) and not isinstance(entry, bool)]
    if positions and len(positions) < len(given):
        raise FieldError(
            f"gold_id is {shown(value)}; give positions (numbers) or document ids (texts), not both."
        )
    if any(position < 0 for position in positions):
        raise FieldError(f"gold_id is {shown(value)}; positions are counted from 0.")
    evidence = () if positions else tuple(Evidence(identifier(doc_id, key)) for doc_id in given)
    return evidence, tuple(positions)


def _evidence(item: Any, index: int) -> Evidence:
    what = f"evidence[{index}]"
    if not isinstance(item, dict):
        raise FieldError(f"{what} is {shown(item)}; an object is expected.")
    check_keys(item, _PLACE | {"grade", "alternatives", "state"}, what)
    if item.get("state", LOST) != LOST:
        raise FieldError(f"state of {what} is {shown(item['state'])}; only {LOST} is marked.")
    alternatives = item.get("alternatives") or []
    if not isinstance(alternatives, list):
        raise FieldError(f"alternatives of {what} is {shown(alternatives)}; a list of objects is expected.")
    grade = whole_number(item, "grade")
    if grade is not None and grade < 1:
        raise FieldError(
            f"grade of {what} is {grade}; evidence has a grade of 1 or more. Leave out what is not relevant."
        )
    place = _place(item, what, "")
    grade = 1 if grade is None else grade
    return Evidence(
        place.doc_id,
        place.start,
        place.end,
        place.quote,
        grade,
        tuple(
            _alternative(other, f"an alternative of {what}", place.doc_id, grade) for other in alternatives
        ),
    )


def _alternative(item: Any, what: str, doc_id: str, grade: int) -> Evidence:
    if not isinstance(item, dict):
        raise FieldError(f"{what} is {shown(item)}; an object is expected.")
    check_keys(item, _PLACE, what)
    place = _place(item, what, doc_id)
    return Evidence(place.doc_id, place.start, place.end, place.quote, grade)


def _place(item: Mapping[str, Any], what: str, default_doc_id: str) -> Evidence:
    start, end = whole_number(item, "start"), whole_number(item, "end")
    if (start is None) != (end is None):
        raise FieldError(
            f"{what} has {'end' if start is None else 'start'} alone; give both start and end, or neither."
        )
    if start is not None and end is not None and not 0 <= start < end:
        raise FieldError(f"{what} has start {start} and end {end}; 0 <= start < end is expected.")
    quote = text(item, "quote") if item.get("quote") is not None else None
    doc_id = identifier(item["doc_id"], "doc_id") if item.get("doc_id") is not None else default_doc_id
    if not doc_id and (quote is None or start is not None):
        raise FieldError(f"{what} has no doc_id; only a quote without start and end may stand without one.")
    return Evidence(doc_id, start, end, quote)


def as_object(question: Question) -> dict[str, Any]:
    """The JSON object that reads back as ``question``."""
    item: dict[str, Any] = {"question_id": question.question_id, "question": question.text}
    item["evidence"] = [evidence_object(unit) for unit in question.evidence]
    item["source"] = question.source
    return item | ({"provenance": dict(question.provenance)} if question.provenance else {})


def evidence_object(unit: Evidence) -> dict[str, Any]:
    """One evidence with its alternatives; what it does not have is left out."""
    item = _place_object(unit)
    if unit.grade != 1:
        item["grade"] = unit.grade
    if unit.alternatives:
        item["alternatives"] = [_place_object(other) for other in unit.alternatives]
    return item


def _place_object(place: Evidence) -> dict[str, Any]:
    given = {"doc_id": place.doc_id, "start": place.start, "end": place.end, "quote": place.quote}
    return {key: value for key, value in given.items() if value is not None}
