"""Each label of a golden set to its place in the documents as they are today."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.golden import State
from harness.golden.doc_ids import Names, quoted, shown_id
from harness.golden.twins import similar_to
from harness.records import Document, Evidence
from harness.text.spans import Span, find_spans, span_at

_COPIES = 20  # a quote that stands in so many places is not counted further
_COPIES_SHOWN = 5
_TOO_SHORT_CHARACTERS = 16  # a number or a name in another document does not show that the passage moved


class Placed(NamedTuple):
    """The state of one label, where its evidence stands, and why it can't be scored.

    ``reason`` begins with the state, or with AMBIGUOUS for a quote that is CHANGED only because it stands in
    several places.
    """

    state: State
    evidence: tuple[Evidence, ...]
    reason: str = ""


def place_all(
    labels: Collection[Evidence], documents: Sequence[Document], reasons: Mapping[str, str] | None = None
) -> dict[Evidence, Placed]:
    """The place of every label, alternatives aside.

    A quote that does not stand where the label says is looked for in the same document, and has MOVED if it
    stands there exactly once. A label without offsets is VALID there. A quote that is not short is looked for
    in all documents only where its own is gone: a label never leaves a document that is there, and its reason
    says where the quote stands.
    White space, typography and markup do not count (see ``find_spans``): the document's own characters
    become the quote. ``reasons`` are known for ids of no document.
    """
    by_id = {document.doc_id: document for document in documents}
    names = Names(by_id, reasons)
    placed: dict[Evidence, Placed] = {}
    for label in labels:
        result = _as_told(label, by_id.get(label.doc_id), names)
        if result is not None:
            placed[label] = result
    placed |= _at_home([label for label in labels if label not in placed], by_id, names)
    for label in labels:
        if label not in placed and label.doc_id and _is_short(label):
            placed[label] = _too_short(label, names)
    found = _found([label for label in labels if label not in placed], documents, names)
    placed |= {label: place for label, place in found.items() if label.doc_id not in by_id}
    missing = [label for label in labels if label not in placed]
    similar = similar_to(missing, documents)
    return placed | {
        label: _elsewhere(label, found[label])
        if label in found and label not in similar
        else _missing(label, names, similar.get(label))
        for label in missing
    }


def _elsewhere(label: Evidence, found: Placed) -> Placed:
    """A quote that left its document, which is there: only a person can say that the label moves with it."""
    at = ", ".join(f"{shown_id(one.doc_id)} at {one.start:,}" for one in found.evidence[:_COPIES_SHOWN])
    stays = f"the quote {_cut(label)} is not in {shown_id(label.doc_id)}, and stands in {at}"
    return Placed("CHANGED", (), f"CHANGED: {stays}; if it moved there, give that doc_id")


def _as_told(label: Evidence, document: Document | None, names: Names) -> Placed | None:
    """The label's place if it is where the label says; None when it must be looked for.

    One character earlier will do too: whoever wrote the label counted the byte order mark, and no other copy
    comes into question.
    """
    if label.quote is None:
        return _without_quote(label, document, names)
    if document is None or label.start is None:
        return None
    for start in (label.start, label.start - 1):
        span = span_at(label.quote, document.text, start) if start >= 0 else None
        if span:
            state: State = "VALID" if start == label.start else "MOVED"
            return Placed(state, (_at(label, document, *span),))
    return None


def _without_quote(label: Evidence, document: Document | None, names: Names) -> Placed:
    if document is None:
        reason = f"LOST: {names.no_document(label.doc_id)}"
        return Placed("LOST", (), reason)
    if label.start is None or label.end is None:
        return Placed("VALID", (label,))
    start, end = label.start, label.end
    if end > len(document.text):
        size = f"{len(document.text):,} characters"
        return Placed(
            "LOST", (), f"LOST: {label.doc_id} has {size}, the label ends at {end:,} and has no quote"
        )
    quote = document.text[start:end]
    if quote.isspace():
        where = f"from {start:,} to {end:,}"
        return Placed("LOST", (), f"LOST: {label.doc_id} has nothing but white space {where}")
    return Placed("VALID", (replace(label, quote=quote),))


def _at_home(
    labels: Sequence[Evidence], by_id: Mapping[str, Document], names: Names
) -> dict[Evidence, Placed]:
    """The places of those that stand in their own document."""
    of_document: dict[str, list[Evidence]] = defaultdict(list)
    for label in labels:
        if label.doc_id in by_id:
            of_document[label.doc_id].append(label)
    placed: dict[Evidence, Placed] = {}
    for doc_id, own in of_document.items():
        placed |= _found(own, [by_id[doc_id]], names)
    return placed


def _found(labels: Sequence[Evidence], documents: Sequence[Document], names: Names) -> dict[Evidence, Placed]:
    spans = find_spans({label.quote for label in labels if label.quote}, documents, _COPIES)
    return {
        label: _chosen(label, spans[label.quote], documents, names)
        for label in labels
        if label.quote and spans[label.quote]
    }


def _chosen(label: Evidence, spans: Sequence[Span], documents: Sequence[Document], names: Names) -> Placed:
    # At the very offset of the label: the document was renamed, and other copies do not come into question.
    renamed = [span for span in spans if span.start == label.start]
    found = [
        _at(label, documents[span.document], span.start, span.end)
        for span in (renamed if len(renamed) == 1 else spans)
    ]
    if len(found) > 1:
        return Placed(
            "CHANGED", tuple(found), f"AMBIGUOUS: {_several(label, found)}{_wrong_id(label, names)}"
        )
    is_as_told = label.start in {None, found[0].start} and label.doc_id in {"", found[0].doc_id}
    return Placed("VALID" if is_as_told else "MOVED", tuple(found))


def _at(label: Evidence, document: Document, start: int, end: int) -> Evidence:
    return replace(label, doc_id=document.doc_id, start=start, end=end, quote=document.text[start:end])


def _several(label: Evidence, found: Sequence[Evidence]) -> str:
    several = f"{len(found)} places" if len(found) < _COPIES else f"{_COPIES} places or more"
    starts: dict[str, list[str]] = defaultdict(list)
    for place in found[:_COPIES_SHOWN]:
        starts[place.doc_id].append(str(place.start))
    listed = ", ".join(f"{shown_id(doc_id)} at {', '.join(at)}" for doc_id, at in starts.items())
    more = ", …" if len(found) > _COPIES_SHOWN else ""
    return (
        f"the quote {_cut(label)} stands in {several}: {listed}{more}; "
        "give start and end, or name the others as alternatives"
    )


def _missing(label: Evidence, names: Names, similar: tuple[Document, int] | None) -> Placed:
    if similar:
        doc_id, near = similar[0].doc_id, similar[1]
        where = f"stands in {shown_id(doc_id)}, near {near:,}{_wrong_id(label, names)}"
        of = f" of {shown_id(label.doc_id)}" if label.doc_id not in {"", doc_id} else ""
        return Placed("CHANGED", (), f"CHANGED: only something like the quote {_cut(label)}{of} {where}")
    of = shown_id(label.doc_id) if label.doc_id else "no named document"
    reason = f"LOST: the quote {_cut(label)} of {of} stands in no document"
    return Placed("LOST", (), reason + _wrong_id(label, names))


def _too_short(label: Evidence, names: Names) -> Placed:
    reason = f"LOST: the quote {_cut(label)} is not in {shown_id(label.doc_id)}"
    return Placed(
        "LOST", (), f"{reason}, and is too short to search for in other documents{_wrong_id(label, names)}"
    )


def _wrong_id(label: Evidence, names: Names) -> str:
    return f"; {names.no_document(label.doc_id)}" if label.doc_id and label.doc_id not in names else ""


def _is_short(label: Evidence) -> bool:
    return len((label.quote or "").strip()) < _TOO_SHORT_CHARACTERS


def _cut(label: Evidence) -> str:
    return quoted(label.quote or "", 40)
