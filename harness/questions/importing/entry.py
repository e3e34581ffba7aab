"""One row into one question as it was asked.

Nothing is dropped: values that are not understood, or not needed, become metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from harness.golden.jsonl import FieldError, identifier, shown
from harness.golden.question_json import draft_of
from harness.questions.importing import GivenQuestion, GivenRow
from harness.questions.importing.columns import beside, is_given, meanings, plain, unpacked
from harness.questions.importing.grades import PASSAGES, grade_column, row_grade
from harness.questions.importing.label import label_in
from harness.records import Source


def asked_in(row: GivenRow, fields: Mapping[str, Any]) -> GivenQuestion:
    """The question in ``fields``, the row's values by name. Raises ``FieldError`` for what can't be used."""
    row_fields, fields = fields, {key: value for key, value in fields.items() if is_given(value)}
    columns, graded = meanings(fields), grade_column(row_fields)
    columns |= {"grade": graded} if graded else {}
    by_meaning = {meaning: row_fields[column] for meaning, column in columns.items()}
    question = by_meaning.get("question")
    if question is None:
        raise FieldError("no question: a text is expected under question, query or user_input.")
    if not isinstance(question, str):
        raise FieldError(f"the question is {shown(question)}; a text is expected.")
    if graded:
        by_meaning["grade"] = row_grade(by_meaning, graded)
    label = label_in(row_fields, by_meaning)
    apart = unpacked(by_meaning.get("not_relevant"))
    item = {"question": question.strip(), **(label.item or {"evidence": []}), "not_relevant": apart}
    draft = draft_of(row.number, item)
    used_for = label.used | {"question", "id", "not_relevant"}
    used = {columns[meaning] for meaning in used_for if meaning in columns}
    is_passage = any(meaning in by_meaning for meaning in PASSAGES)
    rest = {key: value for key, value in fields.items() if key not in used}
    source, provenance = _besides(rest)
    return GivenQuestion(
        row=row,
        question_id=id_in(fields),
        text=draft.text,
        evidence=draft.evidence,
        positions=draft.positions,
        chunks=label.chunks,
        source=source,
        provenance=provenance,
        not_relevant=draft.not_relevant,
        is_unquoted=bool(draft.evidence) and not is_passage and "quote" in meanings(row_fields),
    )


def id_in(fields: Mapping[str, Any]) -> str:
    """The question's id; empty where there is none. Raises ``FieldError`` for what can be none."""
    column = meanings(fields).get("id")
    value = fields[column] if column else None
    return identifier(value, column or "id").strip() if is_given(value) else ""


def _besides(rest: Mapping[str, Any]) -> tuple[Source | None, dict[str, Any]]:
    """Who asked, and everything else that is known of the question."""
    left = dict(rest)
    provenance: dict[str, Any] = {}
    for key in beside(left, "provenance"):
        given = unpacked(left.pop(key))
        provenance |= given if isinstance(given, dict) else {"provenance": given}
    source = None
    for key, value in beside(left, "source").items():
        if str(value).strip().lower() in get_args(Source):
            source = str(left.pop(key)).strip().lower()
    for meaning in ("date", "feedback", "answer"):
        found = beside(left, meaning)
        if found:
            left = {key: value for key, value in left.items() if key not in found}
            provenance[meaning] = next(iter(found.values())) if len(found) == 1 else found
    if left:
        provenance["metadata"] = _metadata(left)
    return cast("Source | None", source), provenance


def _metadata(left: Mapping[str, Any]) -> dict[str, Any]:
    others = {key: value for key, value in left.items() if plain(key) != "metadata"}
    given = next((unpacked(value) for key, value in left.items() if plain(key) == "metadata"), None)
    if isinstance(given, dict) and not set(given) & set(others):
        return given | others
    return others if given is None else others | {"metadata": given}
