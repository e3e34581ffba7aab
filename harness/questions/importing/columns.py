"""What a column, or a key of JSON, is: the names that people give to questions, evidence and what is known besides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

# For each meaning its names, the most telling first: of two in one row the first counts, the other is kept as metadata.
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
LABELS = ("evidence", "spans", "references", "start", "quote", "chunks", "gold_id", "doc_ids", "doc_id")
_MEANING = {name: meaning for meaning, names in NAMES.items() for name in names}
_GAP = re.compile(r"[\s-]+")


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
