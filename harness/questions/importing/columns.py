"""What a column, or a key of JSON, means, and the values that its cells stand for."""

from __future__ import annotations

import ast
import difflib
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

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
        *("reference_contexts", "reference_context", "ground_truth_contexts", "ground_truth_context"),
        *("contexts", "context"),
        *("chunks", "chunk", "chunk_text", "passages", "passage"),
    ),
    "gold_id": ("gold_id", "gold_ids"),
    "doc_ids": (
        *(
            "relevant_doc_ids",
            "doc_ids",
            "document_ids",
            "relevant_docs",
            "relevant_documents",
            "gold_doc_ids",
        ),
        *("gold_docs", "expected_doc_ids", "expected_docs", "expected_documents", "expected_sources"),
        "reference_context_ids",
    ),
    "doc_id": ("doc_id", "document_id", "docid", "corpus_id", "document", "doc", "filename", "file"),
    "not_relevant": ("not_relevant",),
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
_GAP = re.compile(r"[\s-]+|(?<=[a-z0-9])(?=[A-Z])")
_NUMBER = re.compile(r"\s*-?\d+(\.0+)?\s*")
PARTED = re.compile(r"[,;|\n]")


@lru_cache(4096)
def plain(column: str) -> str:
    """A column's name in lower case, with ``_`` for blanks and dashes, and between the words of ``docId``."""
    return _GAP.sub("_", column.strip()).lower()


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


def missing_names(row: Mapping[str, Any]) -> str:
    """A message when the row lacks a key for the question, or any for its evidence; else an empty text."""
    known = meanings(row)
    labels = [] if known.keys() & LABELS else LABELS
    missing = [name for label in labels for name in NAMES[label]]
    missing += [] if "question" in known else NAMES["question"]
    if not missing:
        return ""
    keys = {plain(key): key for key in row}
    near = [(key, name) for key in keys for name in difflib.get_close_matches(key, missing, 1, 0.8)]
    hint = f" Did you mean {near[0][1]} by {keys[near[0][0]]}?" if near else ""
    return (
        f"it has {', '.join(row)[:200] or 'nothing'}. {expected()}.{hint} (An answer is evidence only if it "
        "is copied from a document; then name it quote.)"
    )


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
        found = [part.strip() for part in PARTED.split(found) if part.strip()]
    return found if isinstance(found, list) else [found]


def number(value: Any) -> Any:
    """A whole number that is written as a text, or as a float, as a number; anything else as it is."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(float(value)) if "." in value else int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
