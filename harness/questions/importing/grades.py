"""Grades of judgements in rows: which column holds them, and what their values stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.golden.jsonl import FieldError, exact_number, number_in, shown
from harness.questions.importing.columns import LABELS, PARTED, ids, is_given, meanings, plain, unpacked

# Names of a grade, best first: beside a document, and beside a text where the value is a grade.
_GRADES_OF_DOCUMENTS = (
    *("grades", "relevance_grade", "relevance_label", "relevance_score", "graded_relevance", "is_relevant"),
    *("relevant", "relevancy", "judgement", "judgment", "esci_label", "rating", "label", "gain", "rel"),
    "score",
)
_GRADES_OF_TEXTS = ("relevance_label", "is_relevant", "relevant", "judgement", "judgment", "label")
_WORDS = {"relevant": 1, "yes": 1, "true": 1} | dict.fromkeys(
    ("irrelevant", "not relevant", "non relevant", "nonrelevant", "no", "false"), 0
)
# Meanings that say where in a document the evidence stands.
PASSAGES = ("evidence", "spans", "references", "start", "end", "quote", "chunks")


class GradeError(FieldError):
    """A document's grade can't be used. The row is no part of its question, and the others are."""


def grade_column(fields: Mapping[str, Any]) -> str | None:
    """The column with the grade of the row's label; ``fields``: values by name, blank ones too.

    ``rating``, ``label``, ``score`` and the like are grades only beside a document.
    """
    known = meanings(fields)
    given = {meaning for meaning, column in known.items() if is_given(fields[column])}
    at = {plain(column): column for column in fields}
    if "grade" in known or not given & set(LABELS):
        return known.get("grade")
    if given & {"doc_id", "doc_ids"}:
        return next((at[name] for name in _GRADES_OF_DOCUMENTS if name in at), None)
    named = [at[name] for name in _GRADES_OF_TEXTS if name in at]
    return next((column for column in named if isinstance(_grade(fields[column]), (int, float))), None)


def grade_in(value: Any, column: str) -> float | list[float]:
    """A grade, or the list of them, one for each document. Raises ``FieldError`` for any other value."""
    found = unpacked(value)
    if isinstance(found, list) or (isinstance(found, str) and PARTED.search(found)):
        return [exact_number(_grade(item), column) for item in ids(found)]
    grade = _grade(found)
    if isinstance(grade, str):
        raise FieldError(
            f"{column} is {shown(value)}; a grade is a number, or one of {', '.join(_WORDS)}. "
            "Give the column another name if it is no grade."
        )
    return exact_number(grade, column)


def _grade(value: Any) -> Any:
    """A number or a clear word, as a text or not, as a number; anything else as it is."""
    if not isinstance(value, (str, bool)):
        return value
    found = number_in(str(value).strip())
    return (
        _WORDS.get(" ".join(re.split(r"[\s_-]+", found.lower())), value) if isinstance(found, str) else found
    )


def row_grade(given: Mapping[str, Any], column: str) -> Any:
    """The grade in ``column``, or a list of grades; None where it is blank beside a passage.

    Raises ``GradeError`` for a document whose grade is blank or can't be read.
    """
    is_fine = any(meaning in given for meaning in PASSAGES)
    value = given["grade"]
    if not is_given(value):
        if is_fine:
            return None
        raise GradeError(
            f"{column} is blank, so the document is not judged. Give a grade, or delete the row."
        )
    try:
        return grade_in(value, column)
    except FieldError as error:
        raise (FieldError if is_fine else GradeError)(str(error)) from None
