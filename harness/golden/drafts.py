"""Drafts into questions whose labels name documents: other names, positions, parts of quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.golden.omissions import in_parts
from harness.golden.other_names import with_documents
from harness.golden.question_json import Draft
from harness.records import Document, Evidence, Question
from harness.text.spans import find_spans

_COPIES = 100  # places of one chunk that count as alternatives


class NamedQuestions(NamedTuple):
    """Questions whose labels name documents, reasons for ids of no document, and the ids replaced."""

    questions: list[Question]
    no_documents: dict[str, str]
    other_names: dict[str, str]


def questions_of(
    drafts: Sequence[Draft],
    chunks: Sequence[str] | None,
    documents: Sequence[Document],
    *,
    loosely: bool = False,
) -> NamedQuestions:
    """The questions with a label for each position and for each part of a quote with an omission.

    ``loosely``: see ``other_names``.
    """
    drafts, names = with_documents(drafts, {document.doc_id for document in documents}, loosely=loosely)
    positions = sorted({position for draft in drafts for position in draft.positions})
    no_documents = _numbers_as_ids(drafts, documents)
    if chunks is None:
        at, unknown = documents_at(positions, documents)
        no_documents |= unknown
    else:
        at = chunks_at(positions, chunks, documents)
    parts = in_parts((label for draft in drafts for label in draft.evidence), documents)
    questions = [
        Question(
            draft.question_id,
            draft.text,
            tuple(part for label in draft.evidence for part in parts.get(label, (label,)))
            + tuple(at[position] for position in draft.positions),
            draft.source,
            draft.provenance,
            draft.not_relevant,
        )
        for draft in drafts
    ]
    return NamedQuestions(questions, no_documents, names)


def _numbers_as_ids(drafts: Sequence[Draft], documents: Sequence[Document]) -> dict[str, str]:
    """Ids of no document that are positions of one, with the way to write a position."""
    named = {
        label.doc_id for draft in drafts for label in draft.evidence if label.is_document and not label.quote
    }
    positions = {str(document.position) for document in documents}
    return {
        doc_id: (
            f"there is no document with the id {doc_id}; "
            f'a position is written without quotation marks: "gold_id": {doc_id}'
        )
        for doc_id in named.difference(document.doc_id for document in documents)
        if doc_id in positions
    }


def documents_at(
    positions: Sequence[int], documents: Sequence[Document]
) -> tuple[dict[int, Evidence], dict[str, str]]:
    """Position to the whole document there; a position without a document names one that does not exist.

    The second value says for each such name why there is no document, and which positions there are.
    """
    at = {document.position: document.doc_id for document in documents}
    missing = {position: _unknown(position, documents) for position in positions if position not in at}
    evidence = {position: Evidence(at.get(position) or missing[position]) for position in positions}
    return evidence, {name: _why(position, max(at)) for position, name in missing.items()}


def chunks_at(
    positions: Sequence[int], chunks: Sequence[str], documents: Sequence[Document]
) -> dict[int, Evidence]:
    """Position to the span of the chunk's text, its verbatim copies as alternatives.

    White space at the chunk's ends is left aside; white space, typography and markup do not matter. A text
    that stands nowhere becomes a quote without a document.
    """
    texts = {position: chunks[position].strip() for position in positions}
    places = find_spans(set(texts.values()), documents, _COPIES, is_chunk=True)
    spans: Mapping[str, list[Evidence]] = {
        text: [
            Evidence(documents[i].doc_id, start, end, documents[i].text[start:end]) for i, start, end in found
        ]
        for text, found in places.items()
    }
    evidence = {}
    for position, text in texts.items():
        first, *others = spans[text] or [Evidence("", quote=text)]
        evidence[position] = replace(first, alternatives=tuple(others))
    return evidence


def _why(position: int, last: int) -> str:
    allowed = f"the documents of this corpus have positions 0 to {last:,}"
    if position > last:
        return f"gold_id is {position}; {allowed}, and positions in a list of chunks need golden.chunks=FILE"
    return f"gold_id is {position}; {allowed}, but this one was left out (empty, binary, or the same again)"


def _unknown(position: int, documents: Sequence[Document]) -> str:
    doc_id = f"position {position}"
    ids = {document.doc_id for document in documents}
    while doc_id in ids:
        doc_id += " (none)"
    return doc_id
