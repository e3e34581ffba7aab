"""Quotes in which something is left out ("...", "[…]"): what is left becomes evidence piece by piece."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from harness.records import Document, Evidence
from harness.text.copied import parts_of
from harness.text.spans import Span, find_spans

_PLACES = 20  # of a part
_WAYS = 1_000


def in_parts(
    labels: Iterable[Evidence], documents: Sequence[Document]
) -> dict[Evidence, tuple[Evidence, ...]]:
    """The labels with such a quote, which stands nowhere as a whole, each with its parts as labels.

    The parts stand in one document (the label's, if there is one), one behind the other. If they do so in one
    way only they have offsets. In several ways they are quotes alone, which makes them AMBIGUOUS. A label
    whose parts stand nowhere in that way is left out, as are those with offsets or alternatives.
    """
    by_id = {document.doc_id: document for document in documents}
    cut: dict[str, dict[Evidence, list[str]]] = defaultdict(dict)
    for label in labels:
        is_quote = label.quote and label.start is None and not label.alternatives
        if parts := parts_of(label.quote or "") if is_quote else []:
            cut[label.doc_id if label.doc_id in by_id else ""][label] = parts
    found: dict[Evidence, tuple[Evidence, ...]] = {}
    for doc_id, own in cut.items():
        found |= _found(own, [by_id[doc_id]] if doc_id else documents)
    return found


def _found(
    parts_of_label: Mapping[Evidence, Sequence[str]], documents: Sequence[Document]
) -> dict[Evidence, tuple[Evidence, ...]]:
    whole = find_spans({label.quote or "" for label in parts_of_label}, documents, 1)
    open_ = {label: parts for label, parts in parts_of_label.items() if not whole[label.quote or ""]}
    spans = find_spans({part for parts in open_.values() for part in parts}, documents, _PLACES)
    found: dict[Evidence, tuple[Evidence, ...]] = {}
    for label, parts in open_.items():
        ways = _ways([spans[part] for part in parts])
        if len(ways) == 1:
            found[label] = tuple(_at(label, documents[span.document], span) for span in ways[0])
        elif ways:
            found[label] = tuple(replace(label, quote=part) for part in parts)
    return found


def _ways(spans: Sequence[Sequence[Span]]) -> list[tuple[Span, ...]]:
    """Every way to take one span of each part, all in one document and in order."""
    ways: list[tuple[Span, ...]] = [()]
    for own in spans:
        ways = [(*way, span) for way in ways for span in own if not way or _is_behind(span, way[-1])][:_WAYS]
    return ways


def _is_behind(span: Span, other: Span) -> bool:
    return span.document == other.document and span.start >= other.end


def _at(label: Evidence, document: Document, span: Span) -> Evidence:
    quote = document.text[span.start : span.end]
    return replace(label, doc_id=document.doc_id, start=span.start, end=span.end, quote=quote)
