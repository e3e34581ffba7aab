"""Ids and positions of documents in labels: what they name, and messages about those that name nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from rapidfuzz import fuzz, process

from harness.golden.omissions import in_parts
from harness.golden.question_json import Draft
from harness.records import Document, Evidence, Question
from harness.text.spans import find_spans

_COPIES = 100  # places of one chunk that count as alternatives
_DOCUMENTS = 20_000  # in a larger corpus, ids are not compared letter by letter
_ALIKE = 75  # percent of the whole id: one wrong letter in four
_STEM_ALIKE = 60  # percent of the id without its extension, which a.md and b.md share


class Names:
    """The ids of a corpus. ``reasons``: messages about unknown ids, where more is known than that."""

    def __init__(self, doc_ids: Collection[str], reasons: Mapping[str, str] | None = None) -> None:
        self._ids = doc_ids
        self._reasons = dict(reasons or {})

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self._ids

    def no_document(self, doc_id: str) -> str:
        """A message that there is no document ``doc_id``, with a similar id when there is one."""
        if doc_id not in self._reasons:
            near = self.near(doc_id)
            hint = f". Did you mean {shown_id(near)}?" if near else ""
            self._reasons[doc_id] = f"there is no document {shown_id(doc_id)}{hint}"
        return self._reasons[doc_id]

    def near(self, doc_id: str) -> str | None:
        """The id that ``doc_id`` may have been meant for."""
        same_name = self._by_last_part.get(_last_part(doc_id), [])
        if len(same_name) == 1:
            return same_name[0]
        if len(self._ids) > _DOCUMENTS:
            return None
        # Ids that differ in a number (refunds-2025 and refunds-2026) are two documents and no slip.
        alike = self._by_digits.get(_digits(doc_id), [])
        near = process.extract(doc_id, alike, scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=3)
        return next((other for other, _, _ in near if _stems_alike(doc_id, other)), None)

    @cached_property
    def _by_last_part(self) -> Mapping[str, list[str]]:
        return self._grouped(_last_part)

    @cached_property
    def _by_digits(self) -> Mapping[str, list[str]]:
        return self._grouped(_digits)

    def _grouped(self, key: Callable[[str], str]) -> Mapping[str, list[str]]:
        groups: dict[str, list[str]] = defaultdict(list)
        for doc_id in self._ids:
            groups[key(doc_id)].append(doc_id)
        return groups


def shown_id(doc_id: str) -> str:
    """An id for a message, in quotation marks if it has blanks or unprintable characters."""
    is_plain = doc_id.isprintable() and " " not in doc_id
    return doc_id if is_plain else json.dumps(doc_id, ensure_ascii=not doc_id.isprintable())


def quoted(text: str, characters: int) -> str:
    """A text for a message: in quotation marks, on one line, cut where it is longer."""
    words = " ".join(text.split())
    return f"“{words}”" if len(words) <= characters else f"“{words[: characters - 1]}…”"


def _last_part(doc_id: str) -> str:
    return doc_id.replace("\\", "/").rsplit("/", 1)[-1].strip().casefold()


def _digits(doc_id: str) -> str:
    return "".join(filter(str.isdigit, doc_id))


def _stems_alike(one: str, other: str) -> bool:
    stems = [doc_id.rpartition(".")[0] or doc_id for doc_id in (one, other)]
    return fuzz.ratio(*stems) >= _STEM_ALIKE


def questions_of(
    drafts: Sequence[Draft], chunks: Sequence[str] | None, documents: Sequence[Document]
) -> tuple[list[Question], dict[str, str]]:
    """The questions with a label for each position, and the reasons for document ids of no document.

    A quote with an omission becomes a label for each of its parts.
    """
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
