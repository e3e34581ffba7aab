"""Gold ids that are numbers: positions of documents in their source, or of chunks in a list of texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.golden.jsonl import read_text, whole
from harness.golden.question_json import Draft
from harness.records import Document, Evidence, Question
from harness.text.spans import find_spans

_TEXTS = ("text", "content", "page_content")
_COPIES = 100  # places of one chunk that count as alternatives


def questions_of(
    drafts: Sequence[Draft], chunks: Sequence[str] | None, documents: Sequence[Document]
) -> tuple[list[Question], dict[str, str]]:
    """The questions with a label for each position, and the reasons for document ids of no document."""
    positions = sorted({position for draft in drafts for position in draft.positions})
    no_documents = _numbers_as_ids(drafts, documents)
    if chunks is None:
        at, unknown = documents_at(positions, documents)
        no_documents |= unknown
    else:
        at = chunks_at(positions, chunks, documents)
    questions = [
        Question(
            draft.question_id,
            draft.text,
            draft.evidence + tuple(at[position] for position in draft.positions),
            draft.source,
            draft.provenance,
        )
        for draft in drafts
    ]
    return questions, no_documents


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

    White space at the chunk's ends is left aside, and what white space stands between its words does not
    matter. A text that stands nowhere becomes a quote without a document.
    """
    texts = {position: chunks[position].strip() for position in positions}
    places = find_spans(set(texts.values()), documents, _COPIES)
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


def read_chunks(path: Path) -> list[str]:
    """The texts of a JSON list or of JSONL lines, or their ``text``, ``content`` or ``page_content``."""
    if not path.is_file():
        raise InputError(
            f"golden.chunks is {path}, and there is no such file. Check the spelling.", path=path
        )
    content = read_text(path)
    try:
        whole_file = json.loads(content)
    except (ValueError, RecursionError):
        whole_file = None
    if isinstance(whole_file, list):
        return [_text(path, None, i, item) for i, item in enumerate(whole_file)]
    chunks: list[str] = []
    for line, text in enumerate(content.split("\n"), start=1):
        if text and not text.isspace():
            try:
                chunks.append(_text(path, line, len(chunks), json.loads(text)))
            except (ValueError, RecursionError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(f"{path}:{line}: not JSON ({error}).", path=path, line=line) from None
    return chunks


def _text(path: Path, line: int | None, index: int, item: Any) -> str:
    value = next((item[key] for key in _TEXTS if key in item), None) if isinstance(item, dict) else item
    if not isinstance(value, str) or not value.strip():
        where = f"{path}:{line}" if line else f"{path}: entry {index}"
        raise InputError(
            f"{where}: a chunk is a text that is not blank, or an object with one under {', '.join(_TEXTS)}.",
            path=path,
            line=line,
        )
    return str(whole(value))


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
