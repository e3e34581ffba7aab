"""Rows of one question put together: a row for each piece of evidence is how many tables and sets are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.questions.importing import Asked, Refused
from harness.text.spans import squeezed


def grouped(asked: Sequence[Asked]) -> list[Asked]:
    """The questions, rows with the same id and the same text as one whose evidence is all of theirs.

    Rows without an id stay apart: the text alone does not tell whether they are one question.
    """
    groups: dict[tuple[str, str] | int, list[Asked]] = {}
    for i, question in enumerate(asked):
        key = (question.question_id, squeezed(question.text)) if question.question_id else i
        groups.setdefault(key, []).append(question)
    return [_joined(group) for group in groups.values()]


def without_refused(asked: Sequence[Asked], refused: Sequence[Refused]) -> tuple[list[Asked], list[Refused]]:
    """The questions of which no row was refused, and the refused rows with all others of their questions.

    Half of a question's evidence would make it another question.
    """
    broken = {row.question_id: row for row in reversed(refused) if row.question_id}
    whole = [question for question in asked if question.question_id not in broken]
    others = [
        Refused(
            row,
            f"belongs to question {question.question_id}, whose {broken[question.question_id].row.where} can't be used.",
        )
        for question in asked
        if question.question_id in broken
        for row in question.rows
    ]
    return whole, sorted([*refused, *others], key=lambda found: found.row.number)


def _joined(group: Sequence[Asked]) -> Asked:
    first = group[0]
    if len(group) == 1:
        return first
    return first._replace(
        rows=tuple(row for question in group for row in question.rows),
        evidence=tuple(dict.fromkeys(place for question in group for place in question.evidence)),
        positions=tuple(dict.fromkeys(position for question in group for position in question.positions)),
        chunks=tuple(dict.fromkeys(chunk for question in group for chunk in question.chunks)),
        source=next((question.source for question in group if question.source), None),
        provenance=_all_of([question.provenance for question in group]),
    )


def _all_of(provenances: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the first row says, and under ``rows`` what others say otherwise."""
    known: dict[str, Any] = dict(provenances[0])
    others = []
    for provenance in provenances[1:]:
        other = {key: value for key, value in provenance.items() if known.setdefault(key, value) != value}
        if other and other not in others:
            others.append(other)
    return known | ({"also": others} if others else {})
