"""Evidence that nearly the same words give somewhere else."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.questions.check import Examined, Finding, Look, counted, shortened
from harness.records import Document, Evidence, IntArray
from harness.text.words import UNSPACED

_UNIT = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+")
_RUN = 3  # words that are compared at a time
_FEWEST_WORDS = 8  # of a quote; fewer are said by chance
_SHARE = 0.7  # of the quote's runs: one word in twenty-four changed leaves 0.86, two apart leave 0.73
_AROUND = 8  # words beside such a passage in which the quote's numbers may stand
_WIDER = 1.5  # the passage may be so many times as long
_MOST_CHARACTERS = 200_000_000  # of documents: about two minutes


class _Quote(NamedTuple):
    evidence: Evidence
    runs: int
    words: int


def near_copies(
    examined: Examined, verbatim: Mapping[tuple[int, int], Sequence[Evidence]], most: int = _MOST_CHARACTERS
) -> Look:
    """Evidence that another passage gives in nearly the same words; ``verbatim`` copies and named alternatives aside."""
    if sum(len(document.text) for document in examined.documents) > most:
        return Look("near copies", f"not looked for in more than {most / 1e6:,.0f} million characters")
    known: dict[int, list[Evidence]] = {}
    quotes: list[Evidence] = []
    owners: list[int] = []
    for piece in examined.pieces():
        evidence = piece.unit.evidence
        if evidence and evidence.quote:
            known[len(quotes)] = [*evidence.places, *verbatim.get((piece.question, piece.position), ())]
            quotes.append(evidence)
            owners.append(piece.question)
    found = _found(quotes, examined.documents, known)
    if not found:
        return Look("near copies", "no evidence is given in nearly the same words elsewhere")
    finding = Finding(
        "near copies",
        "note",
        examined.ids([owners[i] for i in found]),
        f"{counted(len(found), 'quote is', 'quotes are')} given elsewhere in nearly the same words: another version, or the same answer again.",
        "Read both. Where the other answers the question as well, name it as an alternative; where it is outdated, it is a good test.",
        tuple(
            f"{examined.questions[owners[i]].question_id}: “{shortened(quotes[i].quote or '')}” "
            f"({quotes[i].doc_id}) and “{shortened(place.quote or '')}” ({place.doc_id} at {place.start:,})"
            for i, place in found.items()
        ),
    )
    return Look(
        "near copies",
        f"{counted(len(found), 'quote', 'quotes')} in nearly the same words elsewhere",
        (finding,),
    )


def _found(
    quotes: Sequence[Evidence], documents: Sequence[Document], known: Mapping[int, Sequence[Evidence]]
) -> dict[int, Evidence]:
    """The first passage like each quote, by its position."""
    numbers: dict[str, int] = {}
    having: dict[int, list[int]] = defaultdict(list)
    measured: dict[int, _Quote] = {}
    cut = {i: _UNIT.findall((quote.quote or "").lower()) for i, quote in enumerate(quotes)}
    cut = {i: words for i, words in cut.items() if len(words) >= _FEWEST_WORDS}
    for words in cut.values():
        for word in words:
            numbers.setdefault(word, len(numbers))
    for i, words in cut.items():
        keys = set(_keys(np.array([numbers[word] for word in words], np.int64), len(numbers)).tolist())
        measured[i] = _Quote(quotes[i], len(keys), len(words))
        for key in keys:
            having[key].append(i)
    wanted = np.fromiter(sorted(having), np.int64, len(having))
    found: dict[int, Evidence] = {}
    for document in documents:
        for i, place in _in_document(document, numbers, wanted, having, measured):
            if i not in found and not any(_meet(place, other) for other in known[i]):
                found[i] = place
    return dict(sorted(found.items()))


def _keys(words: IntArray, count: int) -> IntArray:
    """One number for each run of three words, -1 where one of them is none of the quotes'."""
    first, second, third = words[:-2], words[1:-1], words[2:]
    keys = (first * count + second) * count + third
    return np.where((first < 0) | (second < 0) | (third < 0), -1, keys)


def _in_document(
    document: Document,
    numbers: Mapping[str, int],
    wanted: IntArray,
    having: Mapping[int, Sequence[int]],
    measured: Mapping[int, _Quote],
) -> Iterator[tuple[int, Evidence]]:
    spans = [match.span() for match in _UNIT.finditer(document.text)]
    if len(spans) < _RUN or not len(wanted):
        return
    words = np.fromiter((numbers.get(document.text[a:b].lower(), -1) for a, b in spans), np.int64, len(spans))
    keys = _keys(words, len(numbers))
    at = np.flatnonzero(np.isin(keys, wanted))
    hits: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for position, key in zip(at.tolist(), keys[at].tolist(), strict=True):
        for i in having[key]:
            hits[i].append((position, key))
    for i, own in hits.items():
        for first, last in _windows(own, measured[i]):
            start, end = spans[first][0], spans[last + _RUN - 1][1]
            around = document.text[
                spans[max(0, first - _AROUND)][0] : spans[min(len(spans), last + _RUN + _AROUND) - 1][1]
            ]
            if _numbers(measured[i].evidence.quote or "") <= _numbers(around):
                yield i, Evidence(document.doc_id, start, end, document.text[start:end])


def _numbers(text: str) -> set[str]:
    """Another number is another answer."""
    return set(re.findall(r"\d+", text))


def _windows(hits: Sequence[tuple[int, int]], quote: _Quote) -> Iterator[tuple[int, int]]:
    """First and last run of the stretches, none meeting another, that hold enough of the quote's runs."""
    width, needed = round(_WIDER * quote.words), _SHARE * quote.runs
    inside: dict[int, int] = defaultdict(int)
    begin = 0
    for end, (position, key) in enumerate(hits):
        inside[key] += 1
        while hits[begin][0] <= position - width:
            gone = hits[begin][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            begin += 1
        if len(inside) >= needed:
            yield hits[begin][0], position
            inside.clear()
            begin = end + 1


def _meet(one: Evidence, other: Evidence) -> bool:
    if one.doc_id != other.doc_id or None in {one.start, one.end, other.start, other.end}:
        return one.doc_id == other.doc_id
    return (one.start or 0) < (other.end or 0) and (other.start or 0) < (one.end or 0)
