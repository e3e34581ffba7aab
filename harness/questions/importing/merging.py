"""New questions into a set: added, or merged with the same question there. Nothing is ever lost."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from harness.golden.judgements import Place, place_of
from harness.golden.question_json import LABELS, as_object, labels_object
from harness.golden.twins import Twins, more_places
from harness.questions.importing.columns import NAMES
from harness.questions.importing.finding import unique
from harness.questions.importing.known import KnownQuestion
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
    one stand at one place. Judgements of whole documents are added to a question with the same text, unless
    it has another id.
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
        at = next((i for i in there if _is_same(questions[i], question, twins)), None)
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


def _is_same(one: Question, other: Question, twins: Twins) -> bool:
    pairs = _pairs(one, other, twins)
    if len(pairs) == len(one.evidence) == len(other.evidence):
        return True
    is_id = other.question_id in {"", one.question_id, one.provenance.get(_GIVEN_ID)}
    is_without = not one.evidence or not other.evidence
    return is_id and (is_without or one.kind == other.kind == "document")


def _pairs(one: Question, other: Question, twins: Twins) -> list[tuple[Evidence, Evidence]]:
    """The evidence that both have, piece for piece."""
    left: dict[Place, list[int]] = defaultdict(list)
    for i, mate in enumerate(other.evidence):
        for place in {place_of(place) for place in (*mate.places, *more_places(mate, twins))}:
            left[place].append(i)
    taken: set[int] = set()
    pairs = []
    for unit in one.evidence:
        fitting = (i for place in unit.places for i in left[place_of(place)] if i not in taken)
        match = min(fitting, default=None)
        if match is not None:
            taken.add(match)
            pairs.append((unit, other.evidence[match]))
    return pairs


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
    pairs = _pairs(there, given, twins)
    mates = dict(pairs)
    ours = [_with_alternatives(unit, mates[unit]) if unit in mates else unit for unit in there.evidence]
    said = {place_of(place) for unit in (*ours, *there.not_relevant) for place in unit.places}
    evidence = (*ours, *(unit for unit in given.evidence if place_of(unit) not in said))
    others = (place for place in given.not_relevant if place_of(place) not in said)
    not_relevant = (*there.not_relevant, *others)
    source = max(there.source, given.source, key=lambda source: _RANK[source])
    known = dict(there.provenance)
    also = unique((*there.provenance.get("also", ()), *given.provenance.get("also", ())))
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
    return replace(there, evidence=evidence, source=source, provenance=known, not_relevant=not_relevant)


def _differences(
    there: Question,
    given: Question,
    pairs: Sequence[tuple[Evidence, Evidence]],
    also: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The source and the grades that are not taken over, where they say something new.

    ``judged``: documents that are relevant to one and not to the other, with the grades of ``given``.
    """
    found: dict[str, Any] = {}
    losing, source = sorted((there.source, given.source), key=lambda source: _RANK[source])
    if losing not in {source, "import", *(item.get("source") for item in also)}:
        found["source"] = losing
    grades = [mate.grade for _, mate in pairs]
    relevant, others = ({place_of(label) for label in some} for some in (there.evidence, there.not_relevant))
    denied = [label for label in given.evidence if place_of(label) in others]
    denied += [label for label in given.not_relevant if place_of(label) in relevant]
    found |= {"judged": {label.doc_id: label.grade for label in denied}} if denied else {}
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
    if (after.evidence, after.not_relevant) != (before.evidence, before.not_relevant):
        item = {key: value for key, value in item.items() if key not in LABELS} | labels_object(after)
    return item
