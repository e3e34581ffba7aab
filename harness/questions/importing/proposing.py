"""What a refused row may have meant, written beside it in the document's own words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.golden.doc_ids import Names
from harness.questions.check.accepting import new_span
from harness.questions.importing import GivenQuestion, Refused, TableLayout
from harness.questions.importing.columns import PROPOSED
from harness.records import Document, Evidence
from harness.text.spans import Span, find_similar, find_spans

_PLACES = 20
_MOST_CHARACTERS = 20_000  # of a quote; longer ones are chapters
_SENTENCES = 5  # that a quote is extended by, on either side
_WINDOW = 2_000  # characters, in which they are looked for
_BORDER = re.compile(r"(?<=[.!?。！？])\s+|[\r\n]+\s*")


class Proposal(NamedTuple):
    """Quotes and the id of their document; no quotes for a whole document, no id for quotes of several."""

    quotes: tuple[str, ...]
    doc_id: str


def with_proposals(
    refused: Sequence[Refused],
    asked: Sequence[GivenQuestion],
    documents: Sequence[Document],
    layout: TableLayout | None,
) -> tuple[list[Refused], TableLayout | None]:
    """The rows with ``proposed_quote`` and ``proposed_doc_id``, where anything like their evidence was found.

    Renamed to ``quote`` and ``doc_id``, they are read as such. ``asked``: the questions of the single rows.
    Where a quote stands in several places, the first is proposed, with as many sentences around it as make it
    unique in its document.
    """
    open_ = {row.row.number for row in refused}
    wanted = {q.row.number: _labels(q) for q in asked if q.row.number in open_}
    found = _proposals(wanted, documents)
    if not found:
        return list(refused), layout
    columns = layout and layout._replace(columns=(*layout.columns, *PROPOSED))
    width = len(layout.columns) if layout else 0
    return [
        row._replace(row=row.row._replace(given=_beside(row.row.given, found.get(row.row.number), width)))
        for row in refused
    ], columns


def _labels(question: GivenQuestion) -> list[Evidence]:
    chunks = (Evidence("", quote=(chunk.quote or "").strip()) for chunk in question.chunks)
    return [*question.evidence, *chunks]


def _proposals(
    wanted: Mapping[int, Sequence[Evidence]], documents: Sequence[Document]
) -> dict[int, Proposal]:
    by_id = {document.doc_id: i for i, document in enumerate(documents)}
    names = Names(by_id)
    labels = dict.fromkeys(label for own in wanted.values() for label in own)
    quotes = {label.quote for label in labels if label.quote and len(label.quote) <= _MOST_CHARACTERS}
    spans = find_spans(quotes, documents, _PLACES)
    similar = find_similar({quote for quote in quotes if not spans[quote]}, documents)
    places: dict[Evidence, tuple[str, str]] = {}
    for label in labels:
        quote = label.quote or ""
        doc_id = label.doc_id if label.doc_id in by_id else names.near(label.doc_id) or ""
        if spans.get(quote):
            place = _unique(spans[quote], by_id.get(doc_id), documents)
        elif quote in similar:
            place = _similar(quote, similar[quote], documents)
        else:
            place = (doc_id, "") if not quote and doc_id != label.doc_id else None
        if place:
            places[label] = place
    return {
        number: _joined([places[label] for label in own])
        for number, own in wanted.items()
        if own and all(label in places for label in own)
    }


def _joined(places: Sequence[tuple[str, str]]) -> Proposal:
    ids = {doc_id for doc_id, _ in places}
    return Proposal(tuple(quote for _, quote in places if quote), ids.pop() if len(ids) == 1 else "")


def _similar(quote: str, near: Span, documents: Sequence[Document]) -> tuple[str, str] | None:
    document = documents[near.document]
    span = new_span(quote, document.text, near.start)
    return (document.doc_id, document.text[slice(*span)]) if span else None


def _unique(spans: Sequence[Span], home: int | None, documents: Sequence[Document]) -> tuple[str, str] | None:
    """The first place, in the document ``home`` if there is one, made unique in its document."""
    _, start, end = first = next((span for span in spans if span.document == home), spans[0])
    document = documents[first.document]
    if sum(span.document == first.document for span in spans) == 1:
        return document.doc_id, document.text[start:end]
    low, high = max(0, start - _WINDOW), min(len(document.text), end + _WINDOW)
    before = [match.end() for match in _BORDER.finditer(document.text, low, start)]
    after = [match.start() for match in _BORDER.finditer(document.text, end, high)]
    for count in range(1, _SENTENCES + 1):
        start = before[-count] if count <= len(before) else start if low else 0
        end = after[count - 1] if count <= len(after) else end
        if document.text.count(document.text[start:end]) == 1:
            return document.doc_id, document.text[start:end]
    return None


def _beside(given: object, proposal: Proposal | None, width: int) -> object:
    """The row with the proposal, as two cells behind the first ``width`` or as two keys."""
    quotes = proposal.quotes if proposal else ()
    doc_id = proposal.doc_id if proposal else ""
    if isinstance(given, dict):
        values = (quotes[0] if len(quotes) == 1 else list(quotes), doc_id)
        return given | {key: value for key, value in zip(PROPOSED, values, strict=True) if value}
    if not isinstance(given, list):
        return given
    quote = json.dumps(quotes, ensure_ascii=False) if len(quotes) > 1 else "".join(quotes)
    return [*given[:width], *[""] * (width - len(given)), quote, doc_id, *given[width:]]
