"""Each label of a golden set to its place in the documents as they are today."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.golden import State
from harness.golden.places import Place, find_places, occurrences
from harness.golden.similar import find_reflowed, find_similar
from harness.records import Document, Evidence

_COPIES = 20  # a quote that stands in so many places is not counted further
_TOO_SHORT_CHARACTERS = (
    16  # a number or a name in another document is no evidence that the passage went there
)


class Placed(NamedTuple):
    """The state of one label, the evidence where it stands (several when that is not certain), and why it is not VALID."""

    state: State
    evidence: tuple[Evidence, ...]
    reason: str = ""


def place_all(labels: Collection[Evidence], documents: Sequence[Document]) -> dict[Evidence, Placed]:
    """The place of every label, alternatives aside.

    A quote that does not stand where the label says is looked for in the same document, then (if it is not short) in all, and has MOVED
    if it stands there exactly once. A label without offsets is VALID there.
    """
    by_id = {document.doc_id: document for document in documents}
    placed: dict[Evidence, Placed] = {}
    elsewhere: list[Evidence] = []
    for label in labels:
        result = _at_home(label, by_id.get(label.doc_id))
        if result is None:
            elsewhere.append(label)
        else:
            placed[label] = result
    quotes = {label.quote for label in elsewhere if label.quote}
    hits = find_places(quotes, documents, _COPIES)
    for label in elsewhere:
        places = [(documents[place.document].doc_id, place.start) for place in hits[label.quote or ""]]
        # At the very offset of the label: the document was renamed, and other copies do not come into question.
        renamed = [place for place in places if place[1] == label.start]
        if places:
            placed[label] = _chosen(label, renamed if len(renamed) == 1 else places)
    missing = [label for label in elsewhere if label not in placed]
    similar = find_similar({label.quote for label in missing if label.quote}, documents)
    return placed | {label: _missing(label, by_id, similar, documents) for label in missing}


def _at_home(label: Evidence, document: Document | None) -> Placed | None:
    """The label's place in its own document; None when it must be looked for in others."""
    if label.quote is None:
        return _without_quote(label, document)
    if document is None:
        is_named = bool(label.doc_id)
        return _too_short(label, "there is no such document") if is_named and _is_short(label.quote) else None
    starts = _starts(label, label.quote, document.text)
    if starts:
        return _chosen(label, [(document.doc_id, start) for start in starts])
    if not _is_short(label.quote):
        return None
    at = find_reflowed(label.quote, document.text)
    return _too_short(label, "it is not there any more") if at is None else _reflowed(label, at)


def _starts(label: Evidence, quote: str, text: str) -> list[int]:
    """Where the quote stands: where the label says, if it does, else everywhere.

    One character earlier will do too: whoever wrote the label counted the byte order mark, and no other copy comes into question.
    """
    for start in (label.start, (label.start or 0) - 1):
        if start is not None and start >= 0 and text.startswith(quote, start):
            return [start]
    return occurrences(quote, text, _COPIES)


def _without_quote(label: Evidence, document: Document | None) -> Placed:
    if document is None:
        return Placed("LOST", (), f"there is no document {json.dumps(label.doc_id, ensure_ascii=False)}")
    if label.start is None or label.end is None:
        return Placed("VALID", (label,))
    start, end = label.start, label.end
    if end > len(document.text):
        reason = f"{label.doc_id} has {len(document.text):,} characters, the label ends at {end:,} and has no quote"
        return Placed("LOST", (), reason)
    quote = document.text[start:end]
    if quote.isspace():
        return Placed("LOST", (), f"{label.doc_id} has nothing but white space from {start:,} to {end:,}")
    return Placed("VALID", (replace(label, quote=quote),))


def _chosen(label: Evidence, places: Sequence[tuple[str, int]]) -> Placed:
    quote = label.quote or ""
    evidence = tuple(
        replace(label, doc_id=doc_id, start=start, end=start + len(quote)) for doc_id, start in places
    )
    if len(places) == 1:
        doc_id, start = places[0]
        is_as_told = label.doc_id in {"", doc_id} and label.start in {None, start}
        return Placed("VALID" if is_as_told else "MOVED", evidence)
    several = f"{len(places)} places" if len(places) < _COPIES else f"{_COPIES} places or more"
    listed = ", ".join(f"{doc_id} at {start:,}" for doc_id, start in places[:5])
    reason = (
        f"the quote {_cut(quote)} stands in {several} ({listed}{', …' if len(places) > 5 else ''}); give start and end, "
        "and the other places as alternatives if they answer too"
    )
    return Placed("CHANGED", evidence, reason)


def _missing(
    label: Evidence,
    by_id: Mapping[str, Document],
    similar: Mapping[str, Place],
    documents: Sequence[Document],
) -> Placed:
    quote = label.quote or ""
    document = by_id.get(label.doc_id)
    at = find_reflowed(quote, document.text) if document else None
    if at is not None:
        return _reflowed(label, at)
    if quote in similar:
        place = similar[quote]
        where = f"{documents[place.document].doc_id}, near {place.start:,}"
        return Placed("CHANGED", (), f"the text changed: only something like {_cut(quote)} stands in {where}")
    return Placed(
        "LOST", (), f"the quote {_cut(quote)} of {label.doc_id or 'no named document'} stands in no document"
    )


def _reflowed(label: Evidence, at: int) -> Placed:
    reason = f"{label.doc_id} has the quote {_cut(label.quote or '')} at {at:,} with other white space"
    return Placed("CHANGED", (), reason)


def _too_short(label: Evidence, why: str) -> Placed:
    reason = f"{label.doc_id}: {why}, and the quote {_cut(label.quote or '')} is too short to be looked for in other documents"
    return Placed("LOST", (), reason)


def _is_short(quote: str) -> bool:
    return len(quote.strip()) < _TOO_SHORT_CHARACTERS


def _cut(quote: str) -> str:
    """A quote for a message: in one line, 40 characters at most."""
    words = " ".join(quote.split())
    return f"“{words}”" if len(words) <= 40 else f"“{words[:39]}…”"
