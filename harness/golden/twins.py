"""Evidence whose text stands elsewhere too: a retriever that returns another copy is right.

Promises: a score depends neither on which copy a label names nor on the names of documents, by which rows of
equal scores are ordered.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from harness.golden import EqualTexts
from harness.records import Document, Evidence, Question
from harness.text.spans import Span, find_words, squeezed
from harness.text.words import UNSPACED

SHORTEST = 16  # characters of a quote whose copies count: a name or a number elsewhere answers nothing
_MOST_PLACES = 100  # a text that stands in more places is boilerplate
_LETTER = rf"(?:(?![{UNSPACED}])\w)"
_INSIDE = re.compile(rf"{_LETTER}\|{_LETTER}|\d[.,]?\|[.,]?\d")
_HEAD_WORDS = 3  # two texts that begin with other words are compared no further

Place: TypeAlias = tuple[str, int | None, int | None]
Words: TypeAlias = tuple[str, int | None, int | None, str]
Twins: TypeAlias = Mapping[Place, Sequence[Evidence]]
"""All places of the same text, in the order of the corpus; see ``find_twins``."""


def with_twins(
    questions: Sequence[Question], documents: Sequence[Document]
) -> tuple[list[Question], EqualTexts]:
    """The questions with the twins of their evidence as alternatives, and how many there are.

    All evidence stands where it says. Twins in one question are one piece of evidence; see ``joined``.
    """
    twins = find_twins((unit for question in questions for unit in question.evidence), documents)
    result = [replace(question, evidence=joined(question.evidence, twins)) for question in questions]
    equal = count_twins(questions, result, twins)
    return [
        replace(question, evidence=tuple(_extended(unit, twins) for unit in question.evidence))
        for question in result
    ], equal


def count_twins(given: Sequence[Question], joined: Sequence[Question], twins: Twins) -> EqualTexts:
    """How many twins the evidence has; ``joined``: the ``given`` questions with their evidence joined."""
    places = [len(more_places(unit, twins)) for question in joined for unit in question.evidence]
    given_pieces = sum(len(question.evidence) for question in given)
    return EqualTexts(sum(map(bool, places)), sum(places), given_pieces - len(places))


def _extended(unit: Evidence, twins: Twins) -> Evidence:
    return replace(unit, alternatives=(*unit.alternatives, *more_places(unit, twins)))


def find_twins(evidence: Iterable[Evidence], documents: Sequence[Document]) -> Twins:
    """For places of ``evidence`` and its alternatives all places of the same text, white space aside.

    - A whole document: documents of which the same text is embedded, the prefix included.
    - A span: its words wherever they stand. If they are under 16 characters or stand in over 100 places, only
      the same span of documents with the same text.
    """
    ids = {document.doc_id for document in documents}
    places = {place_of(place): place for unit in evidence for place in unit.places if place.doc_id in ids}
    spans = {key: place for key, place in places.items() if place.start is not None}
    twins = _documents(places.keys() - spans.keys(), documents) | _words(spans, documents)
    return twins | _equal_spans({key: spans[key] for key in spans.keys() - twins.keys()}, documents)


def joined(evidence: Sequence[Evidence], twins: Twins) -> tuple[Evidence, ...]:
    """The evidence of one question; pieces with the same text become one, with the highest grade.

    Otherwise the same answer would count several times.
    """
    units: dict[Words, Evidence] = {}
    for unit in evidence:
        text = words_at(next(iter(twins.get(place_of(unit), (unit,)))))
        first = units.setdefault(text, unit)
        if first is not unit:
            known = set(map(words_at, first.places))
            others = tuple(replace(p, alternatives=()) for p in unit.places if words_at(p) not in known)
            grade = max(first.grade, unit.grade)
            units[text] = replace(first, grade=grade, alternatives=first.alternatives + others)
    return tuple(units.values())


def more_places(unit: Evidence, twins: Twins) -> list[Evidence]:
    """The twins of a piece of evidence and its alternatives that overlap none of them, each once."""
    found = {
        words_at(twin): replace(twin, grade=unit.grade)
        for place in unit.places
        for twin in twins.get(place_of(place), ())
        if not any(overlapping(twin, own) for own in unit.places)
    }
    return list(found.values())


def _documents(places: Collection[Place], documents: Sequence[Document]) -> dict[Place, list[Evidence]]:
    ids = {doc_id for doc_id, _, _ in places}
    heads = {_head(document) for document in documents if document.doc_id in ids}
    by_text: dict[bytes, list[Evidence]] = defaultdict(list)
    for document in documents if heads else ():
        if _head(document) in heads:
            text = squeezed(document.embed_prefix + document.text).encode("utf-8", "surrogatepass")
            by_text[hashlib.sha256(text).digest()].append(Evidence(document.doc_id))
    return {place_of(one): same for same in by_text.values() for one in same if one.doc_id in ids}


def _head(document: Document) -> tuple[str, ...]:
    """The first words: documents that begin otherwise need no comparison."""
    return tuple((document.embed_prefix + document.text).split(None, _HEAD_WORDS)[:_HEAD_WORDS])


def _words(spans: Mapping[Place, Evidence], documents: Sequence[Document]) -> dict[Place, list[Evidence]]:
    quotes = {key: place.quote or "" for key, place in spans.items()}
    words = {quote: squeezed(quote) for quote in quotes.values()}
    hits = find_words({text for text in words.values() if len(text) >= SHORTEST}, documents, _MOST_PLACES + 1)
    found = {
        quote: [_as_quoted(quote, documents[hit.document], hit) for hit in hits[text]]
        for quote, text in words.items()
        if len(hits.get(text, ())) in range(1, _MOST_PLACES + 1)
    }
    text_of = {document.doc_id: document.text for document in documents}
    cuts = {place: _cuts(text_of[place.doc_id], place) for places in found.values() for place in places}
    return {
        key: [place for place in found[quote] if cuts[place] == _cuts(text_of[key[0]], spans[key])]
        for key, quote in quotes.items()
        if quote in found
    }


def _cuts(text: str, place: Evidence) -> tuple[bool, ...]:
    """Whether the span begins, and ends, inside a word or number: "has 5" is another answer than "has 50"."""
    borders = (place.start or 0, place.end or 0)
    return tuple(bool(_INSIDE.search(text[max(0, at - 2) : at] + "|" + text[at : at + 2])) for at in borders)


def _as_quoted(quote: str, document: Document, words: Span) -> Evidence:
    """The span of the words; with the quote's white space around them where it stands there too."""
    start, end = words.start - len(quote) + len(quote.lstrip()), words.end
    if start >= 0 and document.text.startswith(quote, start):
        end = start + len(quote)
    else:
        start = words.start
    return Evidence(document.doc_id, start, end, document.text[start:end])


def _equal_spans(
    spans: Mapping[Place, Evidence], documents: Sequence[Document]
) -> dict[Place, list[Evidence]]:
    ids = {doc_id for doc_id, _, _ in spans}
    text_of = {document.doc_id: document.text for document in documents if document.doc_id in ids}
    same: dict[str, list[str]] = {text: [] for text in text_of.values()}
    for document in documents if same else ():
        if document.text in same:
            same[document.text].append(document.doc_id)
    return {
        key: [replace(place, doc_id=doc_id, alternatives=()) for doc_id in same[text_of[place.doc_id]]]
        for key, place in spans.items()
    }


def place_of(evidence: Evidence) -> Place:
    """Where it stands, alternatives aside."""
    return evidence.doc_id, evidence.start, evidence.end


def words_at(place: Evidence) -> Words:
    """A span without white space at its ends; a quote without a place is identified by its words."""
    if place.start is None or place.end is None:
        return place.doc_id, None, None, squeezed(place.quote or "")
    quote = place.quote or ""
    start = place.start + len(quote) - len(quote.lstrip())
    return place.doc_id, start, place.end - len(quote) + len(quote.rstrip()), ""


def overlapping(one: Evidence, other: Evidence) -> bool:
    """Whether the two share a character; a label without offsets stands for its whole document."""
    if one.doc_id != other.doc_id or None in {one.start, one.end, other.start, other.end}:
        return one.doc_id == other.doc_id
    return (one.start or 0) < (other.end or 0) and (other.start or 0) < (one.end or 0)
