"""A question and its evidence as JSON, read and written.

Three layouts are told apart by their keys: our own (``evidence``), positions or ids of the right passage
(``gold_id``), and ids of the right documents (``relevant_doc_ids``). Nothing is looked up in a document here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast, get_args

from harness.golden.jsonl import (
    FieldError,
    as_list,
    check_keys,
    exact_number,
    identifier,
    one_of,
    shown,
    text,
    whole_number,
)
from harness.golden.judgements import apart, contradiction, each_once, place_of
from harness.records import Evidence, Question, Source

IDS = ("question_id", "id", "_id", "qid")
_QUESTIONS = ("question", "query", "text")
LABELS = ("evidence", "gold_id", "relevant_doc_ids")
_BESIDE = ("not_relevant", "source", "provenance", "metadata", "answer", "kind")
_ALLOWED = frozenset((*IDS, *_QUESTIONS, *LABELS, *_BESIDE))
LOST = "LOST"  # written by the check beside evidence that is known to be gone; it is looked for all the same
_PLACE = frozenset(("doc_id", "start", "end", "quote"))


class Draft(NamedTuple):
    """A question as it stands in line ``line``.

    ``evidence`` may have a quote without offsets, or no ``doc_id`` (an empty text): it is looked for.
    ``positions`` are gold ids given as numbers. ``entries``: where in the line's ``evidence`` each evidence
    stands, from 0; repeats and what is not relevant are passed over.
    """

    line: int
    question_id: str
    text: str
    evidence: tuple[Evidence, ...]
    positions: tuple[int, ...]
    source: Source
    provenance: Mapping[str, Any]
    not_relevant: tuple[Evidence, ...] = ()
    entries: tuple[int, ...] = ()


def draft_of(line: int, item: Mapping[str, Any], relevant_from: float | None = None) -> Draft:
    """The question in ``item``; evidence with a grade of 0 or less, or below ``relevant_from``, apart.

    Raises ``FieldError`` for anything that is not as it must be.
    """
    check_keys(item, _ALLOWED, "a question")
    key = one_of(item, _QUESTIONS, "the question")
    if key is None:
        raise FieldError('no question: a text is expected under "question" (or "query" or "text").')
    question = text(item, key)
    label = one_of(item, LABELS, "the evidence")
    if label is None and item.get("not_relevant") is None:
        raise FieldError(f"no evidence: one of {', '.join(LABELS)} is expected.")
    given, positions = _labels(label, item[label]) if label else ((), ())
    not_relevant = _listed(item.get("not_relevant") or [], "not_relevant", 0)
    labels, several = each_once((*given, *not_relevant))
    if several:
        raise FieldError(f"{contradiction(several)}; keep one of them.")
    evidence, not_relevant = apart(labels, not_relevant, relevant_from)
    first_at = {place_of(place): i for i, place in reversed(list(enumerate(given)))}
    id_key = one_of(item, IDS, "the question's id")
    question_id = identifier(item[id_key], id_key) if id_key else f"q{line:04d}"
    entries = tuple(first_at[place_of(place)] for place in evidence)
    at = tuple(dict.fromkeys(positions))
    beside = _source(item), _provenance(item)
    return Draft(line, question_id, question, evidence, at, *beside, not_relevant, entries)


def _provenance(item: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: item[key] for key in ("answer", "metadata") if item.get(key) is not None}
    given = item.get("provenance") or {}
    if not isinstance(given, dict):
        raise FieldError(f"provenance is {shown(given)}; an object is expected.")
    return known | given


def _source(item: Mapping[str, Any]) -> Source:
    source = item.get("source", "import")
    if source not in get_args(Source):
        raise FieldError(f"source is {shown(source)}; allowed are {', '.join(get_args(Source))}.")
    return cast(Source, source)


def _labels(key: str, value: Any) -> tuple[tuple[Evidence, ...], tuple[int, ...]]:
    if key == "evidence":
        return _listed(value, key, 1), ()
    if key == "relevant_doc_ids" and isinstance(value, dict):
        grades = {doc_id: exact_number(grade, f"grade of {doc_id}") for doc_id, grade in value.items()}
        return tuple(Evidence(identifier(doc_id, key), grade=grade) for doc_id, grade in grades.items()), ()
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


def _listed(value: Any, key: str, ungraded: int) -> tuple[Evidence, ...]:
    """The entries of a list; one without a grade has the grade ``ungraded``."""
    if not isinstance(value, list):
        raise FieldError(f"{key} is {shown(value)}; a list of objects is expected.")
    return tuple(_evidence(item, f"{key}[{i}]", ungraded) for i, item in enumerate(value))


def _evidence(item: Any, what: str, ungraded: int) -> Evidence:
    if not isinstance(item, dict):
        raise FieldError(f"{what} is {shown(item)}; an object is expected.")
    check_keys(item, _PLACE | {"grade", "alternatives", "state"}, what)
    if item.get("state", LOST) != LOST:
        raise FieldError(f"state of {what} is {shown(item['state'])}; only {LOST} is marked.")
    alternatives = item.get("alternatives") or []
    if not isinstance(alternatives, list):
        raise FieldError(f"alternatives of {what} is {shown(alternatives)}; a list of objects is expected.")
    given = item.get("grade")
    grade = ungraded if given is None else exact_number(given, f"grade of {what}")
    place = _place(item, what, "")
    others = (_alternative(other, f"an alternative of {what}", place.doc_id) for other in alternatives)
    same = tuple(replace(other, grade=grade) for other in others)
    return replace(place, grade=grade, alternatives=same)


def _alternative(item: Any, what: str, doc_id: str) -> Evidence:
    if not isinstance(item, dict):
        raise FieldError(f"{what} is {shown(item)}; an object is expected.")
    check_keys(item, _PLACE, what)
    return _place(item, what, doc_id)


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
    item |= labels_object(question)
    item["source"] = question.source
    return item | ({"provenance": dict(question.provenance)} if question.provenance else {})


def labels_object(question: Question) -> dict[str, Any]:
    """The question's labels: its evidence, and what was judged not relevant where there is any."""
    apart = [evidence_object(place, ungraded=0) for place in question.not_relevant]
    evidence = [evidence_object(unit) for unit in question.evidence]
    return {"evidence": evidence} | ({"not_relevant": apart} if apart else {})


def evidence_object(unit: Evidence, ungraded: int = 1) -> dict[str, Any]:
    """One evidence with its alternatives; what it does not have is left out, and the grade ``ungraded``."""
    item = _place_object(unit)
    if unit.grade != ungraded:
        item["grade"] = unit.grade
    if unit.alternatives:
        item["alternatives"] = [_place_object(other) for other in unit.alternatives]
    return item


def _place_object(place: Evidence) -> dict[str, Any]:
    given = {"doc_id": place.doc_id, "start": place.start, "end": place.end, "quote": place.quote}
    return {key: value for key, value in given.items() if value is not None}
