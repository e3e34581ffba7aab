"""Evidence whose text stands elsewhere too: a retriever that returns another copy is right.

Promises: a score depends neither on which copy a label names nor on the names of documents, by which rows of
equal scores are ordered.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.golden import EqualTexts
from harness.golden.judgements import Place, place_of
from harness.records import Document, Evidence, Question
from harness.text.spans import Span, find_similar, find_words, squeezed
from harness.text.words import UNSPACED

SHORTEST = 16  # characters of a quote whose copies count: a name or a number elsewhere answers nothing
_MOST_PLACES = 100  # a text that stands in more places is boilerplate
_LETTER = rf"(?:(?![{UNSPACED}])\w)"
_INSIDE = re.compile(rf"{_LETTER}\|{_LETTER}|\d[.,]?\|[.,]?\d")

Twins: TypeAlias = Mapping[Place, Sequence[Evidence]]
"""All places of the same text, in the order of the corpus; see ``find_twins``."""


def with_twins(
    questions: Sequence[Question], documents: Sequence[Document]
) -> tuple[list[Question], EqualTexts]:
    """The questions with the twins of their evidence as alternatives, and how many there are.

    All evidence stands where it says. Twins in one question are one piece of evidence.
    """
    joined, twins, equal = with_joined(questions, documents)
    for i, question in enumerate(joined):
        pairs = [(unit, more_places(unit, twins)) for unit in question.evidence]
        evidence = (replace(unit, alternatives=(*unit.alternatives, *more)) for unit, more in pairs)
        joined[i] = replace(question, evidence=tuple(evidence))
    return joined, equal


def with_joined(
    questions: Sequence[Question], documents: Sequence[Document]
) -> tuple[list[Question], Twins, EqualTexts]:
    """The questions, twins in one question joined to one piece of evidence with the highest grade.

    Otherwise the same answer would count several times. Also all twins of the evidence, and how many.
    """
    twins = find_twins((unit for question in questions for unit in question.evidence), documents)
    joined = [replace(question, evidence=_joined(question.evidence, twins)) for question in questions]
    places = [len(more_places(unit, twins)) for question in joined for unit in question.evidence]
    pieces = sum(len(question.evidence) for question in questions)
    return joined, twins, EqualTexts(sum(map(bool, places)), sum(places), pieces - len(places))


def find_twins(evidence: Iterable[Evidence], documents: Sequence[Document]) -> Twins:
    """For places of ``evidence`` and its alternatives all places of the same text, white space aside.

    - A whole document: documents of which the same text is embedded, the prefix included, at most 100.
    - A span: its words wherever they stand. If they are under 16 characters or stand in over 100 places, only
      the same span of documents with the same text.
    """
    ids = {document.doc_id for document in documents}
    places = {place_of(place): place for unit in evidence for place in unit.places if place.doc_id in ids}
    twins = _words(places, documents)
    whole = {key: place for key, place in places.items() if place.start is None}
    others = {key: places[key] for key in places.keys() - twins.keys() - whole.keys()}
    twins |= _in_equal_documents(whole, documents, lambda d: squeezed(d.embed_prefix + d.text))
    return twins | _in_equal_documents(others, documents, lambda d: d.text)


def _joined(evidence: Sequence[Evidence], twins: Twins) -> tuple[Evidence, ...]:
    units: dict[Place, Evidence] = {}
    for unit in evidence:
        text = place_of(next(iter(twins.get(place_of(unit), (unit,)))))
        first = units.setdefault(text, unit)
        if first is not unit:
            known = set(map(place_of, first.places))
            others = tuple(replace(p, alternatives=()) for p in unit.places if place_of(p) not in known)
            grade = max(first.grade, unit.grade)
            units[text] = replace(first, grade=grade, alternatives=first.alternatives + others)
    return tuple(units.values())


def more_places(unit: Evidence, twins: Twins) -> list[Evidence]:
    """The twins of a piece of evidence and its alternatives that overlap none of them, each once."""
    found = {
        place_of(twin): replace(twin, grade=unit.grade)
        for place in unit.places
        for twin in twins.get(place_of(place), ())
        if not any(overlapping(twin, own) for own in unit.places)
    }
    return list(found.values())


def _in_equal_documents(
    places: Mapping[Place, Evidence], documents: Sequence[Document], text_of: Callable[[Document], str]
) -> dict[Place, list[Evidence]]:
    """The same offsets of all documents with the same text, if they are at most 100."""
    ids = {place.doc_id for place in places.values()}
    same: dict[str, list[str]] = {text_of(document): [] for document in documents if document.doc_id in ids}
    for document in documents if same else ():
        if (text := text_of(document)) in same:
            same[text].append(document.doc_id)
    few = (equal_ids for equal_ids in same.values() if len(equal_ids) <= _MOST_PLACES)
    equal = {doc_id: equal_ids for equal_ids in few for doc_id in equal_ids}
    return {
        key: [replace(place, doc_id=doc_id, alternatives=()) for doc_id in equal[place.doc_id]]
        for key, place in places.items()
        if place.doc_id in equal
    }


def _words(places: Mapping[Place, Evidence], documents: Sequence[Document]) -> dict[Place, list[Evidence]]:
    quotes = {key: place.quote for key, place in places.items() if place.quote}
    words = {quote: squeezed(quote) for quote in quotes.values()}
    hits = find_words({text for text in words.values() if len(text) >= SHORTEST}, documents, _MOST_PLACES + 1)
    found = {
        quote: [_as_quoted(quote, documents[hit.document], hit) for hit in hits[text]]
        for quote, text in words.items()
        if len(hits.get(text, ())) in range(1, _MOST_PLACES + 1)
    }
    text_of = {document.doc_id: document.text for document in documents}
    cuts = {place: _cuts(text_of[place.doc_id], place) for same in found.values() for place in same}
    return {
        key: [place for place in found[quote] if cuts[place] == _cuts(text_of[key[0]], places[key])]
        for key, quote in quotes.items()
        if quote in found
    }


def _cuts(text: str, place: Evidence) -> tuple[bool, ...]:
    """Whether the span begins, and ends, inside a word or number: "has 5" is another answer than "has 50"."""
    borders = (place.start or 0, place.end or 0)
    return tuple(bool(_INSIDE.search(text[max(0, at - 2) : at] + "|" + text[at : at + 2])) for at in borders)


def _as_quoted(quote: str, document: Document, words: Span) -> Evidence:
    """The span of the words; with the quote's white space around them where it stands there too."""
    start, text = words.start - len(quote) + len(quote.lstrip()), document.text
    if start >= 0 and text.startswith(quote, start):
        return Evidence(document.doc_id, start, start + len(quote), quote)
    return Evidence(document.doc_id, words.start, words.end, text[words.start : words.end])


def overlapping(one: Evidence, other: Evidence) -> bool:
    """Whether the two share a character; a label without offsets stands for its whole document."""
    if one.doc_id != other.doc_id or None in {one.start, one.end, other.start, other.end}:
        return one.doc_id == other.doc_id
    return (one.start or 0) < (other.end or 0) and (other.start or 0) < (one.end or 0)


def similar_to(
    labels: Iterable[Evidence], documents: Sequence[Document]
) -> dict[Evidence, tuple[Document, int]]:
    """Where something like a label's quote stands: in its own document, in any only where that is gone."""
    by_id = {document.doc_id: document for document in documents}
    groups: dict[str, list[Evidence]] = defaultdict(list)
    for label in labels:
        groups[label.doc_id if label.doc_id in by_id else ""].append(label)
    found: dict[Evidence, tuple[Document, int]] = {}
    for doc_id, own in groups.items():
        within = [by_id[doc_id]] if doc_id in by_id else documents
        spans = find_similar({label.quote for label in own if label.quote}, within)
        known = ((label, spans.get(label.quote or "")) for label in own)
        found |= {label: (within[span.document], span.start) for label, span in known if span}
    return found
