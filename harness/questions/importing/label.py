"""The label that a row gives: the finest that it has, in the words of a golden file.

The finest counts: offsets before quotes, quotes before texts of chunks, these before ids of documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.golden.jsonl import FieldError, exact_number, shown
from harness.questions.importing.columns import (
    LABELS,
    expected,
    ids,
    meanings,
    number,
    texts,
    unpacked,
)
from harness.questions.importing.grades import GradeError, grade_column, grade_in
from harness.records import Evidence


class Label(NamedTuple):
    """Evidence in the words of a golden file (or texts of chunks), and the meanings that it was read from."""

    item: Mapping[str, Any]
    used: frozenset[str] | set[str]
    chunks: tuple[Evidence, ...] = ()


def label_in(row: Mapping[str, Any], given: Mapping[str, Any]) -> Label:
    """The label of ``row``, of which ``given`` are the values by meaning, the grade as of ``row_grade``.

    A question may have no evidence if that is said: by an empty list, or by what is not relevant. Raises
    ``FieldError`` for any other row without a label.
    """
    for read in (_own, _spans, _references, _offsets, _quotes, _chunks, _gold_id, _documents):
        if (label := read(given)) is not None:
            return label
    columns = {
        meaning: unpacked(row[column]) for meaning, column in meanings(row).items() if meaning in LABELS
    }
    if "not_relevant" in given or [] in columns.values() or columns.get("doc_ids") == {}:
        return Label({"evidence": []}, frozenset())
    raise FieldError(f"no evidence. {expected()}.")


def _own(given: Mapping[str, Any]) -> Label | None:
    if "evidence" not in given:
        return None
    found = unpacked(given["evidence"])
    if "grade" in given and isinstance(found, list) and all(isinstance(item, dict) for item in found):
        found = [{"grade": given["grade"], **item} for item in found]
    return Label({"evidence": found}, {"evidence", "grade"})


def _spans(given: Mapping[str, Any]) -> Label | None:
    if "spans" not in given:
        return None
    spans, quotes = unpacked(given["spans"]), unpacked(given.get("texts"))
    if not isinstance(spans, list) or not all(isinstance(span, list) and len(span) == 2 for span in spans):
        raise FieldError(f"spans is {shown(spans)}; a list of pairs [start, end] is expected.")
    if quotes is None:
        quotes = [None] * len(spans)
    if not isinstance(quotes, list) or len(quotes) != len(spans):
        raise FieldError(f"texts is {shown(quotes)}; one text for each span is expected ({len(spans)}).")
    places = [
        _place(given, number(start), number(end), quote)
        for (start, end), quote in zip(spans, quotes, strict=True)
    ]
    return Label({"evidence": places}, {"spans", "texts", "doc_id", "grade"})


def _references(given: Mapping[str, Any]) -> Label | None:
    """A list of ``{content, start_index, end_index}``, as in Chroma's evaluation of chunkers."""
    found = unpacked(given.get("references"))
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        return None
    places = [
        _place(given, item.get("start_index"), item.get("end_index"), item.get("content")) for item in found
    ]
    return Label({"evidence": places}, {"references", "doc_id", "grade"})


def _offsets(given: Mapping[str, Any]) -> Label | None:
    if "start" not in given and "end" not in given:
        return None
    start, end, quote = number(given.get("start")), number(given.get("end")), given.get("quote")
    if end is None and isinstance(start, int) and isinstance(quote, str):
        end = start + len(quote)
    place = _place(given, start, end, quote)
    return Label({"evidence": [place]}, {"start", "end", "quote", "doc_id", "grade"})


def _quotes(given: Mapping[str, Any]) -> Label | None:
    if "quote" not in given:
        return None
    places = [_place(given, None, None, quote) for quote in texts(given["quote"])]
    return Label({"evidence": places}, {"quote", "doc_id", "grade"})


def _chunks(given: Mapping[str, Any]) -> Label | None:
    if "chunks" not in given:
        return None
    found = texts(given["chunks"])
    wrong = [text for text in found if not isinstance(text, str)]
    if wrong:
        raise FieldError(f"a context is {shown(wrong[0])}; a text is expected.")
    if "doc_id" in given:
        places = [_place(given, None, None, text.strip()) for text in found]
        return Label({"evidence": places}, {"chunks", "doc_id", "grade"})
    grade = exact_number(given["grade"], "the grade") if given.get("grade") is not None else 1
    return Label({}, {"chunks", "grade"}, tuple(Evidence("", quote=text, grade=grade) for text in found))


def _gold_id(given: Mapping[str, Any]) -> Label | None:
    if "gold_id" not in given:
        return None
    found = ids(given["gold_id"]) if isinstance(given["gold_id"], str) else given["gold_id"]
    found = [number(i) for i in found] if isinstance(found, list) else found
    if "grade" not in given:
        return Label({"gold_id": found}, {"gold_id"})
    if any(isinstance(one, int) for one in (found if isinstance(found, list) else [found])):
        raise GradeError(f"gold_id is {shown(found)} beside a grade; name graded documents by their ids.")
    return _graded(found if isinstance(found, list) else [found], given, {"gold_id", "grade"})


def _documents(given: Mapping[str, Any]) -> Label | None:
    meaning = "doc_ids" if "doc_ids" in given else "doc_id"
    if meaning not in given:
        return None
    if meaning == "doc_ids" and isinstance(found := unpacked(given["doc_ids"]), dict):
        places = [{"doc_id": doc_id, "grade": grade_in(grade, doc_id)} for doc_id, grade in found.items()]
        return Label({"evidence": places}, {meaning})
    return _graded(
        ids(given["doc_ids"]) if meaning == "doc_ids" else [_doc_id(given)], given, {meaning, "grade"}
    )


def _graded(doc_ids: Sequence[Any], given: Mapping[str, Any], used: set[str]) -> Label:
    """Whole documents with the row's grade, or each with its own where there is a list of grades."""
    grades = given.get("grade")
    if not isinstance(grades, list):
        grades = [grades] * len(doc_ids)
    if len(grades) != len(doc_ids):
        raise GradeError(
            f"the grades are {shown(grades)}; one for each document is expected, with a point in 0.5."
        )
    pairs = zip(doc_ids, grades, strict=True)
    return Label({"evidence": [_document(doc_id, grade) for doc_id, grade in pairs]}, used)


def _document(item: Any, grade: Any) -> dict[str, Any]:
    """A document as it stands in a list: its id, or an object with its id and grade."""
    if isinstance(item, dict) and "doc_id" in (known := meanings(item)):
        graded = grade_column(item)
        item, grade = item[known["doc_id"]], grade_in(item[graded], graded) if graded else grade
    return {"doc_id": item, "grade": grade}


def _place(given: Mapping[str, Any], start: Any, end: Any, quote: Any) -> dict[str, Any]:
    place = {"doc_id": _doc_id(given), "start": start, "end": end, "quote": quote}
    place["grade"] = given.get("grade")
    return {key: value for key, value in place.items() if value is not None}


def _doc_id(given: Mapping[str, Any]) -> Any:
    doc_id = given.get("doc_id")
    return doc_id.strip() if isinstance(doc_id, str) else doc_id
