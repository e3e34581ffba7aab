"""New questions into a set: added, or merged with the same question that is there. Nothing that is there is ever lost."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness.golden.written import as_object, evidence_object
from harness.questions.importing.columns import NAMES
from harness.questions.importing.known import Known
from harness.records import Evidence, Question, Source
from harness.text.spans import squeezed

_RANK: Mapping[Source, int] = {"import": 0, "synthetic": 1, "production": 2}
_ID_DIGITS = 10  # hexadecimal: of a million questions, one pair in two has the same
_GIVEN_ID = "given_id"  # in the provenance of a question whose own id was taken


class Merged(NamedTuple):
    """What becomes of a golden file.

    ``lines``: its lines as they must be, each with its id, of which ``changed`` are new in part; ``added``: lines to be put below.
    ``same``: how many given questions were there already. ``renamed``: ids that were taken by other questions, and what stands for them.
    """

    lines: list[dict[str, Any]]
    changed: int
    added: list[dict[str, Any]]
    same: int
    renamed: Mapping[str, str]


def merge(known: Sequence[Known], new: Sequence[Question]) -> Merged:
    """``new`` questions into those that are ``known``.

    The same text, white space aside, with the same evidence is the same question; with other evidence it is another one. Two pieces of
    evidence are the same if they, or alternatives of theirs, stand at one place.
    """
    questions = [line.question for line in known]
    # An id that was the line's number must not change with the lines.
    lines = [_with_own_id(line) for line in known]
    taken = {question.question_id for question in questions}
    by_text: dict[str, list[int]] = defaultdict(list)
    for i, question in enumerate(questions):
        by_text[squeezed(question.text)].append(i)
    changed: set[int] = set()
    same, renamed = 0, dict[str, str]()
    for question in new:
        there = by_text[squeezed(question.text)]
        at = next((i for i in there if _pairs(questions[i], question) is not None), None)
        if at is None:
            added = _with_id(question, taken, renamed)
            there.append(len(questions))
            questions.append(added)
            lines.append(as_object(added))
            continue
        same += 1
        together = _together(questions[at], question)
        if together != questions[at]:
            changed.add(at)
            lines[at] = _rewritten(lines[at], questions[at], together)
            questions[at] = together
    count = len(known)
    return Merged(lines[:count], sum(i < count for i in changed), lines[count:], same, renamed)


def _with_own_id(line: Known) -> dict[str, Any]:
    has_id = any(line.item.get(key) is not None for key in NAMES["id"])
    return dict(line.item) if has_id else {"question_id": line.question.question_id, **line.item}


def _pairs(one: Question, other: Question) -> list[tuple[Evidence, Evidence]] | None:
    """The evidence of both, piece for piece; None when it is not the same."""
    if len(one.evidence) != len(other.evidence):
        return None
    left = list(other.evidence)
    pairs = []
    for unit in one.evidence:
        places = {_place_of(place) for place in unit.places}
        match = next((mate for mate in left if places & {_place_of(place) for place in mate.places}), None)
        if match is None:
            return None
        left.remove(match)
        pairs.append((unit, match))
    return pairs


def _place_of(place: Evidence) -> tuple[str, int | None, int | None, str]:
    """White space at the ends of a span is none of its place; a quote that stands nowhere is known by its words."""
    if place.start is None or place.end is None:
        return place.doc_id, None, None, squeezed(place.quote or "")
    quote = place.quote or ""
    start = place.start + len(quote) - len(quote.lstrip())
    return place.doc_id, start, place.end - len(quote) + len(quote.rstrip()), ""


def _with_id(question: Question, taken: set[str], renamed: dict[str, str]) -> Question:
    """The question under its own id if it has one that is free, else under one that follows from its text and evidence."""
    if question.question_id and question.question_id not in taken:
        taken.add(question.question_id)
        return question
    content = [squeezed(question.text), *sorted(map(str, (_place_of(unit) for unit in question.evidence)))]
    digest = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    size = _ID_DIGITS
    while f"q-{digest[:size]}" in taken and size < len(digest):
        size += 1
    question_id, provenance = f"q-{digest[:size]}", dict(question.provenance)
    taken.add(question_id)
    if question.question_id:
        provenance[_GIVEN_ID] = question.question_id
        renamed[question.question_id] = question_id
    return replace(question, question_id=question_id, provenance=provenance)


def _together(there: Question, given: Question) -> Question:
    """The question that is there, with all that the given one says besides; where they differ both are kept, ``also`` the given."""
    pairs = _pairs(there, given) or []
    evidence = tuple(_with_alternatives(unit, mate) for unit, mate in pairs)
    source = max(there.source, given.source, key=lambda source: _RANK[source])
    known, also = dict(there.provenance), list(there.provenance.get("also", ()))
    other: dict[str, Any] = {}
    for key, value in given.provenance.items():
        if key == "also":
            also += [item for item in value if item not in also]
        elif key == "imported_from":
            known.setdefault(key, value)  # where it was first seen
        elif known.setdefault(key, value) != value:
            other[key] = value
    if given.question_id and given.question_id not in {there.question_id, known.get(_GIVEN_ID)}:
        other["question_id"] = given.question_id
    losing = min(there.source, given.source, key=lambda source: _RANK[source])
    if losing not in {source, "import", *(item.get("source") for item in also)}:
        other["source"] = losing
    grades = [mate.grade for _, mate in pairs]
    if grades != [unit.grade for unit, _ in pairs]:
        other["grades"] = grades
    if other and not any(other.items() <= item.items() for item in also):
        also.append(other)
    if also:
        known["also"] = also
    return replace(there, evidence=evidence, source=source, provenance=known)


def _with_alternatives(unit: Evidence, mate: Evidence) -> Evidence:
    places = {_place_of(place) for place in unit.places}
    more = tuple(
        replace(place, alternatives=(), grade=unit.grade)
        for place in mate.places
        if _place_of(place) not in places
    )
    return replace(unit, alternatives=unit.alternatives + more)


def _rewritten(item: Mapping[str, Any], before: Question, after: Question) -> dict[str, Any]:
    """The line with what is new in it; everything else stays as it was written."""
    item = dict(item)
    if after.source != before.source:
        item["source"] = after.source
    if after.provenance != before.provenance:
        beside = {key: item[key] for key in ("answer", "metadata") if item.get(key) is not None}
        item["provenance"] = {
            key: value for key, value in after.provenance.items() if key not in beside or beside[key] != value
        }
    if after.evidence != before.evidence and "evidence" in item:
        item["evidence"] = [evidence_object(unit) for unit in after.evidence]
    return item
