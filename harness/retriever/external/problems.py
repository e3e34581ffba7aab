"""What was wrong with the answers of an external retriever: counts, and an example of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.records import Kind, Question
from harness.retriever import Answer, Row
from harness.retriever.external.locating import Located, key

_NAMES = (
    *("rows", "unmapped_rows", "ambiguous_rows", "duplicate_rows", "malformed_rows"),
    *("bad_scores", "surplus_rows", "failed_questions", "short_answers"),
)


class Problems(NamedTuple):
    """``counts``: name of a figure to how often; ``examples``: the same names to the first case, in words without any text of documents."""

    counts: Mapping[str, float]
    examples: Mapping[str, str]


def problems(
    questions: Mapping[Kind, Sequence[Question]],
    answers: Mapping[str, Answer],
    located: Mapping[Row, Located],
    most_k: int,
) -> Problems:
    """Looks through every answer.

    ``rows``: how many came back. ``unmapped_rows``: in no document. ``ambiguous_rows``: their text occurs several times, the first span was taken.
    ``duplicate_rows``: the same span, or for whole documents the same row, once more. ``malformed_rows``: a field has a wrong type. ``bad_scores``: no
    number. ``surplus_rows``: beyond what was asked for, cut off. ``failed_questions``: no answer. ``short_answers``: fewer rows than the largest k.
    """
    found = _Found()
    for kind, asked in questions.items():
        for question in asked:
            answer = answers[question.text]
            found.add("failed_questions", question, bool(answer.error), answer.error)
            short = not answer.error and len(answer.rows) < most_k
            found.add("short_answers", question, short, f"{len(answer.rows)} rows for k={most_k}")
            found.add("surplus_rows", question, answer.surplus, f"{answer.surplus} too many")
            _look_through(found, kind, question, answer.rows, located)
    return Problems(found.counts, found.examples)


def _look_through(
    found: _Found, kind: Kind, question: Question, rows: Sequence[Row], located: Mapping[Row, Located]
) -> None:
    seen: set[object] = set()
    for rank, row in enumerate(rows, start=1):
        found_at, where = located[key(row)], f"row {rank}"
        named = where if row.id is None else f"{where}, id {row.id!r}"
        lost = found_at.doc < 0 if kind == "document" else found_at.span is None
        same: object = key(row) if found_at.span is None else found_at.span
        found.add("rows", question, 1, where)
        found.add("unmapped_rows", question, lost, f"{named}: {found_at.reason}")
        found.add("ambiguous_rows", question, found_at.is_ambiguous and kind == "span", named)
        found.add("duplicate_rows", question, same in seen, named)
        found.add("malformed_rows", question, bool(row.fault), f"{where}: {row.fault}")
        found.add("bad_scores", question, row.score is not None and math.isnan(row.score), named)
        seen.add(same)


class _Found:
    def __init__(self) -> None:
        self.counts = dict.fromkeys(_NAMES, 0.0)
        self.examples: dict[str, str] = {}

    def add(self, name: str, question: Question, times: float, what: str) -> None:
        if times:
            self.counts[name] += times
            if name != "rows":
                self.examples.setdefault(name, f"{question.question_id}, {what}")
