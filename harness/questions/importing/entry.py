"""One row into one question as it was asked: what is given decides what its evidence is.

The finest counts: offsets before quotes, quotes before texts of chunks, these before ids of documents.
Nothing is dropped: values that are not understood, or not needed, become metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast, get_args

from harness.golden.jsonl import FieldError, identifier, shown
from harness.golden.question_json import draft_of
from harness.questions.importing import GivenQuestion, GivenRow
from harness.questions.importing.columns import (
    beside,
    expected,
    ids,
    is_given,
    meanings,
    number,
    plain,
    texts,
    unpacked,
)
from harness.records import Source


class _Label(NamedTuple):
    """Evidence in the words of a golden file (or texts of chunks), and the meanings that it was read from."""

    item: Mapping[str, Any]
    used: frozenset[str] | set[str]
    chunks: tuple[str, ...] = ()


def asked_in(row: GivenRow, fields: Mapping[str, Any]) -> GivenQuestion:
    """The question in ``fields``, the row's values by name. Raises ``FieldError`` for what can't be used."""
    fields = {key: value for key, value in fields.items() if is_given(value)}
    columns = meanings(fields)
    by_meaning = {meaning: fields[column] for meaning, column in columns.items()}
    question = by_meaning.get("question")
    if question is None:
        raise FieldError("no question: a text is expected under question, query or user_input.")
    if not isinstance(question, str):
        raise FieldError(f"the question is {shown(question)}; a text is expected.")
    label = _label(by_meaning)
    draft = draft_of(
        row.number, {"question": question.strip(), **(label.item or {"evidence": [{"doc_id": "-"}]})}
    )
    used = {columns[meaning] for meaning in label.used | {"question", "id"} if meaning in columns}
    rest = {key: value for key, value in fields.items() if key not in used}
    source, provenance = _besides(rest)
    return GivenQuestion(
        rows=(row,),
        question_id=id_in(fields),
        text=draft.text,
        evidence=() if label.chunks else draft.evidence,
        positions=draft.positions,
        chunks=label.chunks,
        source=source,
        provenance=provenance,
    )


def id_in(fields: Mapping[str, Any]) -> str:
    """The question's id; empty where there is none. Raises ``FieldError`` for what can be none."""
    column = meanings(fields).get("id")
    value = fields[column] if column else None
    return identifier(value, column or "id").strip() if is_given(value) else ""


def _label(given: Mapping[str, Any]) -> _Label:
    for read in (_own, _spans, _references, _offsets, _quotes, _chunks, _gold_id, _documents):
        label = read(given)
        if label is not None:
            return label
    raise FieldError(f"no evidence. {expected()}.")


def _own(given: Mapping[str, Any]) -> _Label | None:
    return _Label({"evidence": unpacked(given["evidence"])}, {"evidence"}) if "evidence" in given else None


def _spans(given: Mapping[str, Any]) -> _Label | None:
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
    return _Label({"evidence": places}, {"spans", "texts", "doc_id", "grade"})


def _references(given: Mapping[str, Any]) -> _Label | None:
    """A list of ``{content, start_index, end_index}``, as in Chroma's evaluation of chunkers."""
    found = unpacked(given.get("references"))
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        return None
    places = [
        _place(given, item.get("start_index"), item.get("end_index"), item.get("content")) for item in found
    ]
    return _Label({"evidence": places}, {"references", "doc_id", "grade"})


def _offsets(given: Mapping[str, Any]) -> _Label | None:
    if "start" not in given and "end" not in given:
        return None
    start, end, quote = number(given.get("start")), number(given.get("end")), given.get("quote")
    if end is None and isinstance(start, int) and isinstance(quote, str):
        end = start + len(quote)
    place = _place(given, start, end, quote)
    return _Label({"evidence": [place]}, {"start", "end", "quote", "doc_id", "grade"})


def _quotes(given: Mapping[str, Any]) -> _Label | None:
    if "quote" not in given:
        return None
    places = [_place(given, None, None, quote) for quote in texts(given["quote"])]
    return _Label({"evidence": places}, {"quote", "doc_id", "grade"})


def _chunks(given: Mapping[str, Any]) -> _Label | None:
    if "chunks" not in given:
        return None
    found = texts(given["chunks"])
    wrong = [text for text in found if not isinstance(text, str)]
    if wrong:
        raise FieldError(f"a context is {shown(wrong[0])}; a text is expected.")
    if "doc_id" in given:
        places = [_place(given, None, None, text.strip()) for text in found]
        return _Label({"evidence": places}, {"chunks", "doc_id", "grade"})
    return _Label({}, {"chunks"}, tuple(found))


def _gold_id(given: Mapping[str, Any]) -> _Label | None:
    if "gold_id" not in given:
        return None
    found = ids(given["gold_id"]) if isinstance(given["gold_id"], str) else given["gold_id"]
    return _Label({"gold_id": [number(i) for i in found] if isinstance(found, list) else found}, {"gold_id"})


def _documents(given: Mapping[str, Any]) -> _Label | None:
    meaning = "doc_ids" if "doc_ids" in given else "doc_id"
    if meaning not in given:
        return None
    found = ids(given["doc_ids"]) if meaning == "doc_ids" else [_doc_id(given)]
    grade = {"grade": number(given["grade"])} if "grade" in given else {}
    return _Label({"evidence": [{"doc_id": doc_id, **grade} for doc_id in found]}, {meaning, "grade"})


def _place(given: Mapping[str, Any], start: Any, end: Any, quote: Any) -> dict[str, Any]:
    place = {"doc_id": _doc_id(given), "start": start, "end": end, "quote": quote}
    place["grade"] = number(given.get("grade"))
    return {key: value for key, value in place.items() if value is not None}


def _doc_id(given: Mapping[str, Any]) -> Any:
    doc_id = given.get("doc_id")
    return doc_id.strip() if isinstance(doc_id, str) else doc_id


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
