"""Labels against documents: what stands where the label says, what moved, what changed, what is gone.

Each place of each evidence gets a state; the state of a unit (an evidence with its alternatives) is the best
of its places. Only places that are VALID or MOVED go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from harness.errors import InputError
from harness.golden import Labels, State
from harness.golden.judgements import contradiction, each_once, place_of
from harness.golden.placing import Placed, place_all
from harness.golden.twins import with_twins
from harness.records import Document, Evidence, Question
from harness.text.spans import squeezed

_STATES: tuple[State, ...] = ("VALID", "MOVED", "CHANGED", "LOST")  # best first
_REASONS_SHOWN = 3


class NothingToScoreError(InputError):
    """No question of the set can be scored against the documents, or most of its evidence is not there."""


class Unit(NamedTuple):
    """One checked evidence with its alternatives: where it stands now (None: can't be scored), and why."""

    state: State
    evidence: Evidence | None
    reason: str


def anchor(
    questions: Sequence[Question],
    documents: Sequence[Document],
    *,
    name: str,
    path: Path,
    digest: str,
    keep_lost: bool,
    twins: bool = True,
    left_out: Mapping[str, str] | None = None,
    no_documents: Mapping[str, str] | None = None,
    other_names: Mapping[str, str] | None = None,
) -> Labels:
    """The questions that can be scored against ``documents``, their evidence where it stands today.

    A question without evidence, or with a unit that is CHANGED or LOST, is left out. With ``keep_lost`` it
    stays, and such a unit counts as covered 0. With ``twins`` other places of the same text are alternatives.
    ``left_out``: ids that can't be scored for other reasons. Raises ``NothingToScoreError`` when no question
    is left, or (without ``keep_lost``) less than half of the evidence was found.
    """
    ids = {document.doc_id for document in documents}
    kept: list[Question] = []
    reasons = dict(left_out or {})
    checked = check_units([question.evidence for question in questions], documents, no_documents)
    for question, units in zip(questions, checked, strict=True):
        found, several = each_once(unit.evidence for unit in units if unit.evidence)
        left = {place_of(unit): unit for unit in found}
        evidence = [
            left.pop(place_of(unit.evidence), None) if unit.evidence else _nowhere(label, ids)
            for unit, label in zip(units, question.evidence, strict=True)
        ]
        contradictory = f"CONTRADICTORY: {contradiction(several)}" if several else ""
        reason = _no_evidence(question) or ("" if keep_lost else reason_of(units)) or contradictory
        if reason:
            reasons[question.question_id] = reason
        else:
            kept.append(replace(question, evidence=tuple(filter(None, evidence))))
    states = Counter(unit.state for units in checked for unit in units)
    kept, equal = with_twins(kept, documents) if twins else (kept, None)
    counts = {state: states[state] for state in _STATES}
    not_relevant = sum(len(question.not_relevant) for question in questions)
    labels = Labels(name, tuple(kept), reasons, counts, digest, other_names or {}, not_relevant, equal)
    valid = states["VALID"] + states["MOVED"]
    if not kept or not valid or (not keep_lost and valid < labels.lost_evidence):
        raise NothingToScoreError(_none_left(labels, questions, checked, len(documents), path), path=path)
    return labels


def check_units(
    labels: Sequence[Sequence[Evidence]],
    documents: Sequence[Document],
    no_documents: Mapping[str, str] | None = None,
) -> list[list[Unit]]:
    """For each question's evidence its units as they stand in ``documents``; see ``anchor``."""
    # In the order of the file: each run then gives the same reasons.
    wanted = dict.fromkeys(place for evidence in labels for unit in evidence for place in unit.places)
    placed = place_all(wanted, documents, no_documents)
    return [[_unit(unit, placed) for unit in evidence] for evidence in labels]


def _unit(evidence: Evidence, placed: Mapping[Evidence, Placed]) -> Unit:
    places = [placed[place] for place in evidence.places]
    state = min((place.state for place in places), key=_STATES.index)
    good: dict[tuple[str, int | None, int | None], Evidence] = {}
    for place in _copies(evidence.places, places):
        good.setdefault((place.doc_id, place.start, place.end), place)
    if not good:
        bad = next(place for place in places if place.state == state)
        return Unit(state, None, bad.reason)
    first, *others = good.values()
    state = state if state in {"VALID", "MOVED"} else "MOVED"
    return Unit(state, replace(first, grade=evidence.grade, alternatives=tuple(others)), "")


def _copies(labels: Sequence[Evidence], places: Sequence[Placed]) -> list[Evidence]:
    """The evidence that was found, alternatives removed.

    A quote that stands in several places is not certain, unless the unit names as many copies: then any of
    them counts, and it does not matter which is which.
    """
    copies = Counter(_text_of(label) for label in labels)
    found: list[Evidence] = []
    for label, place in zip(labels, places, strict=True):
        if place.state in {"VALID", "MOVED"} or 0 < len(place.evidence) <= copies[_text_of(label)]:
            found.extend(place.evidence)
    return [replace(evidence, alternatives=()) for evidence in found]


def _text_of(label: Evidence) -> tuple[str, str]:
    return label.doc_id, squeezed(label.quote or "")


def _no_evidence(question: Question) -> str:
    count = f"all judgements say: not relevant ({len(question.not_relevant):,})"
    said = count if question.not_relevant else "the set gives none"
    return "" if question.evidence else f"NO EVIDENCE: {said}"


def _nowhere(label: Evidence, ids: set[str]) -> Evidence:
    """The label in a document that does not exist, of the same kind as before."""
    doc_id = f"(lost) {label.doc_id}"
    while doc_id in ids:
        doc_id = f"(lost) {doc_id}"
    is_document = label.start is None and label.quote is None
    start, end = label.start or 0, label.end or len(label.quote or "")
    return replace(
        label,
        doc_id=doc_id,
        start=None if is_document else start,
        end=None if is_document else end,
        alternatives=(),
    )


def reason_of(units: Sequence[Unit]) -> str:
    """Why the question with these units can't be scored: the first three reasons; empty when it can."""
    bad = [unit.reason for unit in units if not unit.evidence]
    more = [f"and {len(bad) - _REASONS_SHOWN} more"] if len(bad) > _REASONS_SHOWN else []
    shown = "; ".join(bad[:_REASONS_SHOWN] + more)
    return shown.replace("?; ", "? ")


def _none_left(
    labels: Labels,
    questions: Sequence[Question],
    checked: Sequence[Sequence[Unit]],
    documents: int,
    path: Path,
) -> str:
    counts = ", ".join(f"{count:,} {state}" for state, count in labels.states.items())
    pairs = zip(questions, checked, strict=True)
    reasons = {question.question_id: reason_of(units) for question, units in pairs if reason_of(units)}
    example = next(iter({**reasons, **labels.left_out}.items()), None)
    end = "" if example and example[1].endswith("?") else "."
    shown = f' For instance "{example[0]}": {example[1]}{end}' if example else ""
    are_some = labels.questions and labels.states["VALID"] + labels.states["MOVED"]
    total = f"{len(questions):,}"
    some = f"only {len(labels.questions):,} of {total} question{'s' * (len(questions) != 1)}"
    scored = some if are_some else f"no question of {total}"
    return (
        f"{path}: {scored} can be scored against the corpus "
        f"(documents: {documents:,}; evidence: {counts}).{shown} {_advice(labels, shown)}"
    )


def _advice(labels: Labels, example: str) -> str:
    if not any(labels.states.values()):
        return "Give evidence to the questions that have an answer."
    if example.endswith("?"):  # it names a similar document
        return "Correct the labels; the documents are there."
    if labels.states["VALID"] + labels.states["MOVED"]:
        whose = "More than half of the evidence" if labels.questions else "Evidence of every question"
        return (
            f"{whose} changed or is lost. Check that this is the corpus of these questions, and correct the "
            "labels, or set golden.keep_lost=true to count it as not found."
        )
    if labels.states["CHANGED"] >= max(1, labels.states["LOST"]):
        return "The documents changed since the questions were written; correct the labels."
    return (
        "This looks like a golden set for another corpus: check corpus.path, golden.path, "
        "and how documents are named."
    )
