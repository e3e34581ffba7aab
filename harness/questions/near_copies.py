"""Texts in nearly the same words: pairs of similar sets of words, and passages that resemble a quote."""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.golden.twins import overlapping
from harness.records import Document, Evidence
from harness.text.words import UNSPACED

Hashes: TypeAlias = npt.NDArray[np.uint64]
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+")
_RUN = 3  # words that are compared at a time
_NEIGHBOURS = 30  # of the sets that share an element, each is compared with so many earlier ones
_FEWEST_WORDS = 8  # of a quote; fewer recur by chance
_SHARE = 0.7  # of the quote's runs: one word in twenty-four changed leaves 0.86, two apart leave 0.73
_AROUND = 8  # words beside such a passage in which the quote's numbers may stand
_WIDER = 1.5  # the passage may be so many times as long


def word_runs(words: Sequence[str]) -> Hashes:
    """uint64 (runs,): the hash of each run of three words in order; of fewer words, one hash of them all."""
    codes = (zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words)
    hashes = np.fromiter(codes, np.uint64, len(words))
    width = max(1, min(_RUN, len(words)))
    mixed = np.zeros(max(0, len(words) - width + 1), np.uint64)
    for place in range(width):
        mixed = _mix(mixed + hashes[place : place + len(mixed)])
    return mixed


def _mix(values: Hashes) -> Hashes:
    """A bijection of 64-bit numbers without patterns (finaliser of splitmix64; Steele et al. 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def similar_pairs(sets: Sequence[Hashes], least: float) -> Iterator[tuple[int, int]]:
    """Pairs of positions whose sets have a Jaccard similarity of at least ``least``, the smaller first.

    Two such sets share one of the rarest elements of each (the prefix filter: Chaudhuri, Ganti & Kaushik
    2006), so few pairs are compared. Where many sets share an element, each is compared with the 30 before
    it.
    """
    if not any(map(len, sets)):
        return
    joined, ends = np.concatenate(sets), np.cumsum([len(own) for own in sets])
    _, inverse, counts = np.unique(joined, return_inverse=True, return_counts=True)
    having: dict[int, list[int]] = defaultdict(list)
    for i, frequency in enumerate(np.split(counts[inverse], ends[:-1])):
        own = sets[i]
        rarest = np.lexsort((own, frequency))[: len(own) - ceil(least * len(own) - 1e-9) + 1]
        prefix = own[rarest][frequency[rarest] > 1].tolist()
        for other in sorted({other for element in prefix for other in having[element][-_NEIGHBOURS:]}):
            shared = len(np.intersect1d(own, sets[other], assume_unique=True))
            if shared / (len(own) + len(sets[other]) - shared) >= least:
                yield other, i
        for element in prefix:
            having[element].append(i)


class _SoughtQuote(NamedTuple):
    quote: str
    runs: int
    words: int


def passages_like(
    quotes: Sequence[Evidence], documents: Sequence[Document], known: Mapping[int, Sequence[Evidence]]
) -> dict[int, Evidence]:
    """For each quote, by position, the first similar passage outside its ``known`` places."""
    having: dict[int, list[int]] = defaultdict(list)
    sought: dict[int, _SoughtQuote] = {}
    for i, evidence in enumerate(quotes):
        words = _WORD.findall((evidence.quote or "").lower())
        if len(words) >= _FEWEST_WORDS:
            runs = set(word_runs(words).tolist())
            sought[i] = _SoughtQuote(evidence.quote or "", len(runs), len(words))
            for run in runs:
                having[run].append(i)
    wanted = np.fromiter(having, np.uint64, len(having))
    found: dict[int, Evidence] = {}
    for document in documents if having else ():
        for i, place in _in_document(document, wanted, having, sought):
            if i not in found and not any(overlapping(place, other) for other in known[i]):
                found[i] = place
    return dict(sorted(found.items()))


def _in_document(
    document: Document,
    wanted: Hashes,
    having: Mapping[int, Sequence[int]],
    sought: Mapping[int, _SoughtQuote],
) -> Iterator[tuple[int, Evidence]]:
    text = document.text
    spans = [match.span() for match in _WORD.finditer(text)]
    if len(spans) < _RUN:
        return
    runs = word_runs([text[start:end].lower() for start, end in spans])
    at = np.flatnonzero(np.isin(runs, wanted))
    hits: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for position, run in zip(at.tolist(), runs[at].tolist(), strict=True):
        for i in having[run]:
            hits[i].append((position, run))
    for i, own in hits.items():
        for first, last in _windows(own, sought[i]):
            start, end = spans[first][0], spans[last + _RUN - 1][1]
            before = spans[max(0, first - _AROUND)][0]
            after = spans[min(len(spans), last + _RUN + _AROUND) - 1][1]
            if _numbers(sought[i].quote) <= _numbers(text[before:after]):
                yield i, Evidence(document.doc_id, start, end, text[start:end])


def _numbers(text: str) -> set[str]:
    """Another number is another answer."""
    return set(re.findall(r"\d+", text))


def _windows(hits: Sequence[tuple[int, int]], quote: _SoughtQuote) -> Iterator[tuple[int, int]]:
    """First and last run of the stretches, none meeting another, that hold enough of the quote's runs."""
    width, needed = round(_WIDER * quote.words), _SHARE * quote.runs
    inside: dict[int, int] = defaultdict(int)
    begin = 0
    for end, (position, run) in enumerate(hits):
        inside[run] += 1
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
