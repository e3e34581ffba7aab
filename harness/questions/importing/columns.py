"""What a column, or a key of JSON, means, and the values that its cells stand for."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from harness.golden.jsonl import FieldError

# For each meaning its names, the most specific first. Of two in one row the first counts.
NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("question_id", "query_id", "qid", "_id", "id"),
    "question": ("question", "user_input", "query", "user_query", "text"),
    "evidence": ("evidence",),
    "spans": ("spans",),
    "texts": ("texts",),
    "references": ("references",),
    "start": ("start", "start_index", "start_char", "start_offset"),
    "end": ("end", "end_index", "end_char", "end_offset"),
    "quote": ("quote", "quotes", "excerpt", "evidence_quote", "evidence_text", "span_text"),
    "chunks": (
        *("reference_contexts", "ground_truth_contexts", "ground_truth_context", "contexts", "context"),
        *("chunks", "chunk", "chunk_text", "passages", "passage"),
    ),
    "gold_id": ("gold_id", "gold_ids"),
    "doc_ids": ("relevant_doc_ids", "doc_ids", "document_ids", "relevant_docs", "reference_context_ids"),
    "doc_id": ("doc_id", "document_id", "docid", "corpus_id", "document", "doc", "filename", "file"),
    "grade": ("grade", "relevance"),
    "source": ("source",),
    "date": ("date", "timestamp", "created_at", "asked_at", "datetime"),
    "feedback": ("feedback", "rating", "thumbs", "thumbs_up", "vote"),
    "answer": (
        *("answer", "reference_answer", "ground_truth", "ground_truths", "reference"),
        *("expected_answer", "expected_output"),
    ),
    "provenance": ("provenance",),
}
# Columns or keys beside a refused row, ignored when it is read again unless they are renamed.
PROPOSED = ("proposed_quote", "proposed_doc_id")
LABELS = ("evidence", "spans", "references", "start", "quote", "chunks", "gold_id", "doc_ids", "doc_id")
_MEANING = {name: meaning for meaning, names in NAMES.items() for name in names}
_GAP = re.compile(r"[\s-]+")
_NUMBER = re.compile(r"\s*-?\d+(\.0+)?\s*")
_PARTED = re.compile(r"[,;|\n]")
# Any of these says that a row was written by a generator of test sets.
_WRITTEN_BY = ("synthesizer_name", "evolution_type", "question_type")
_OWN = {"user_input", "ground_truth_context", "ground_truth_contexts", "eval_sample", *_WRITTEN_BY}
_HOP = re.compile(r"<\d+-hop>\s*")  # put before each context of a question that needs several


def plain(column: str) -> str:
    """A column's name in lower case, with ``_`` for blanks and dashes."""
    return _GAP.sub("_", column.strip().lower())


def meanings(columns: Iterable[str]) -> dict[str, str]:
    """Each meaning that the columns have, with the column that counts."""
    at = {plain(column): column for column in reversed(list(columns))}
    return {
        meaning: at[name]
        for meaning, names in NAMES.items()
        for name in [next((name for name in names if name in at), None)]
        if name is not None
    }


def beside(fields: Mapping[str, Any], meaning: str) -> dict[str, Any]:
    """All fields of one meaning, under their own names."""
    return {key: value for key, value in fields.items() if _MEANING.get(plain(key)) == meaning}


def expected() -> str:
    """What a table must have, for messages."""
    labels = "quote, start and end, reference_contexts, references, gold_id, relevant_doc_ids or doc_id"
    return f"A question (column question, query or user_input) and its evidence ({labels}) are expected"


def is_given(value: Any) -> bool:
    """False for what says nothing: null, an empty or blank text, an empty list or object, not-a-number."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value not in ([], {}) and value == value  # noqa: PLR0124 - nan


def unpacked(value: Any) -> Any:
    """A text that is a list or an object in JSON or Python (as pandas writes them) becomes that."""
    if not isinstance(value, str) or not value.strip().startswith(("[", "{")):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(value.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, (list, dict)):
            return found
    return value


def texts(value: Any) -> list[Any]:
    """One text or a list of them as a list. A text such as "[1]" is not a list of texts."""
    found = unpacked(value)
    if isinstance(found, list) and (isinstance(value, list) or all(isinstance(item, str) for item in found)):
        return [item for item in found if is_given(item)]
    return [value]


def ids(value: Any) -> list[Any]:
    """Ids: a list, or a text with commas, semicolons, bars or line breaks between them."""
    found = unpacked(value)
    if isinstance(found, dict):
        found = list(found)
    if isinstance(found, str):
        found = [part.strip() for part in _PARTED.split(found) if part.strip()]
    return found if isinstance(found, list) else [found]


def number(value: Any) -> Any:
    """A whole number that is written as a text, or as a float, as a number; anything else as it is."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(float(value)) if "." in value else int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_ragas_set(columns: Collection[str]) -> bool:
    """Whether these are the columns of a ragas set."""
    return bool(_OWN & {plain(column) for column in columns})


def adapted(given: Mapping[str, Any]) -> dict[str, Any]:
    """The row without what only ragas knows: marks before contexts, a sample inside its record.

    Raises ``FieldError`` for a conversation, and for contexts that a retriever returned: these are no
    evidence.
    """
    row = {plain(key): value for key, value in given.items() if is_given(value)}
    sample = row.pop("eval_sample", None)
    row |= {plain(key): value for key, value in sample.items()} if isinstance(sample, dict) else {}
    if isinstance(unpacked(row.get("user_input")), list):
        raise FieldError("user_input is a conversation of several turns; one question is expected.")
    by_generator = any(key in row for key in _WRITTEN_BY)
    if (
        "contexts" in row
        and "answer" in row
        and not by_generator
        and {"ground_truth", "ground_truths"} & set(row)
    ):
        raise FieldError(
            "contexts beside answer and ground_truth are what a retriever returned, no evidence. "
            "If they are, name them reference_contexts."
        )
    for key in ("reference_contexts", "contexts"):
        if key in row:
            row[key] = [
                _HOP.sub("", text, count=1) if isinstance(text, str) else text for text in texts(row[key])
            ]
    if by_generator:
        row.setdefault("source", "synthetic")
    return row
