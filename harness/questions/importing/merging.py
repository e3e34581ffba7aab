"""New questions into a set: added, or merged with the same question there. Nothing is ever lost."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness.golden.question_json import as_object, evidence_object
from harness.golden.twins import Place, Twins, more_places, place_of
from harness.questions.importing.columns import NAMES
from harness.questions.importing.finding import KnownQuestion
from harness.records import Evidence, Question, Source
from harness.text.spans import squeezed

_RANK: Mapping[Source, int] = {"import": 0, "synthetic": 1, "production": 2}
_ID_DIGITS = 10  # hexadecimal: of a million questions, one pair in two has the same
_GIVEN_ID = "given_id"  # in the provenance of a question whose own id was taken


class MergedSet(NamedTuple):
    """What becomes of a golden file.

    ``lines``: its lines, each with its id, of which ``changed`` were extended; ``added``: lines to append.
    ``same``: how many given questions were there already. ``renamed``: taken ids, and the new ones.
    """

    lines: list[dict[str, Any]]
    changed: int
    added: list[dict[str, Any]]
    same: int
    renamed: Mapping[str, str]


def merge(known: Sequence[KnownQuestion], new: Sequence[Question], twins: Twins) -> MergedSet:
    """``new`` questions into those that are ``known``.

    The same text, white space aside, with the same evidence is the same question; with other evidence it is
    another one. Two pieces of evidence are the same if they, alternatives of theirs, or ``twins`` of the new
    one stand at one place.
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
        at = next((i for i in there if _pairs(questions[i], question, twins) is not None), None)
        if at is None:
            added = _with_id(question, taken, renamed)
            there.append(len(questions))
            questions.append(added)
            lines.append(as_object(added))
            continue
        same += 1
        together = _together(questions[at], question, twins)
        if together != questions[at]:
            changed.add(at)
            lines[at] = _rewritten(lines[at], questions[at], together)
            questions[at] = together
    count = len(known)
    return MergedSet(lines[:count], sum(i < count for i in changed), lines[count:], same, renamed)


def _with_own_id(line: KnownQuestion) -> dict[str, Any]:
    has_id = any(line.item.get(key) is not None for key in NAMES["id"])
    return dict(line.item) if has_id else {"question_id": line.question.question_id, **line.item}


def _pairs(one: Question, other: Question, twins: Twins) -> list[tuple[Evidence, Evidence]] | None:
    """The evidence of both, piece for piece; None when it is not the same."""
    if len(one.evidence) != len(other.evidence):
        return None
    left = list(other.evidence)
    pairs = []
    for unit in one.evidence:
        places = {place_of(place) for place in unit.places}
        match = next((mate for mate in left if places & _all_places(mate, twins)), None)
        if match is None:
            return None
        left.remove(match)
        pairs.append((unit, match))
    return pairs


def _all_places(unit: Evidence, twins: Twins) -> set[Place]:
    return {place_of(place) for place in (*unit.places, *more_places(unit, twins))}


def _with_id(question: Question, taken: set[str], renamed: dict[str, str]) -> Question:
    """The question under its own id if that is free, otherwise under a hash of its text and evidence."""
    if question.question_id and question.question_id not in taken:
        taken.add(question.question_id)
        return question
    content = [squeezed(question.text), *sorted(map(str, map(place_of, question.evidence)))]
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


def _together(there: Question, given: Question, twins: Twins) -> Question:
    """The existing question extended by the given one; differing values are added under ``also``."""
    pairs = _pairs(there, given, twins) or []
    evidence = tuple(_with_alternatives(unit, mate) for unit, mate in pairs)
    source = max(there.source, given.source, key=lambda source: _RANK[source])
    known, also = dict(there.provenance), list(there.provenance.get("also", ()))
    also += [item for item in given.provenance.get("also", ()) if item not in also]
    # The first file that it was imported from counts.
    other = {
        key: value
        for key, value in given.provenance.items()
        if key != "also" and known.setdefault(key, value) != value and key != "imported_from"
    }
    if given.question_id and given.question_id not in {there.question_id, known.get(_GIVEN_ID)}:
        other["question_id"] = given.question_id
    other |= _differences(there, given, pairs, also)
    if other and not any(other.items() <= item.items() for item in also):
        also.append(other)
    known |= {"also": also} if also else {}
    return replace(there, evidence=evidence, source=source, provenance=known)


def _differences(
    there: Question,
    given: Question,
    pairs: Sequence[tuple[Evidence, Evidence]],
    also: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The source and the grades that are not taken over, where they say something new."""
    found: dict[str, Any] = {}
    losing, source = sorted((there.source, given.source), key=lambda source: _RANK[source])
    if losing not in {source, "import", *(item.get("source") for item in also)}:
        found["source"] = losing
    grades = [mate.grade for _, mate in pairs]
    return found | ({"grades": grades} if grades != [unit.grade for unit, _ in pairs] else {})


def _with_alternatives(unit: Evidence, mate: Evidence) -> Evidence:
    places = {place_of(place) for place in unit.places}
    more = tuple(
        replace(place, alternatives=(), grade=unit.grade)
        for place in mate.places
        if place_of(place) not in places
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
