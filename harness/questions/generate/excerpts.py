"""What belongs to an excerpt: near copies, places of a quote, and a partner for a question about both."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from harness.questions.generate import Excerpt
from harness.questions.near_copies import similar_pairs, word_runs
from harness.records import Document, Evidence
from harness.text.spans import find_spans
from harness.text.words import UNSPACED, is_unspaced, size, units, words

_ALIKE = 0.7  # Jaccard similarity; one word in forty words changed leaves 0.85, two leave 0.73
_MOST = 20  # copies of one excerpt; a place that has more is not worth a question
_RARE = 24  # a word that more excerpts have (or one in twenty) says nothing about two of them
_SHARED = 2  # rare words, at least; of two documents one more
_OTHER_DOCUMENT = 0.25  # share of the pairs that are sought in two documents first
_NEAR = 2  # excerpts
_LETTERS = 4  # shorter words are seldom names
_MOST_PLACES = 20
_TELLING = 40  # a shorter text (a name, a number) elsewhere in the document need not say the same
_UNSPACED = re.compile(f"[{UNSPACED}]")
_BLANKS = re.compile(r"\s+")


def with_copies(excerpts: Sequence[Sequence[Excerpt]]) -> list[list[Excerpt]]:
    """The excerpts of each document with their ``copies``: at most 20, in the order given.

    Two are copies of each other when at least 0.7 of all their different runs of three words are in both.
    """
    flat = [excerpt for own in excerpts for excerpt in own]
    runs = [np.unique(word_runs(units(excerpt.text))) for excerpt in flat]
    copies: dict[int, list[int]] = defaultdict(list)
    for one, other in similar_pairs(runs, _ALIKE):
        copies[one].append(other)
        copies[other].append(one)
    marked = iter(
        replace(each, copies=tuple(flat[other] for other in sorted(copies[at])[:_MOST]))
        for at, each in enumerate(flat)
    )
    return [[next(marked) for _ in own] for own in excerpts]


class _Candidate(NamedTuple):
    score: float
    nearness: int
    other: int


class Partners:
    """Finds a second excerpt for a question.

    ``excerpts``: of all documents in order, those of one together.
    """

    def __init__(self, excerpts: Sequence[Excerpt], documents: Mapping[str, Document], seed: int) -> None:
        self._excerpts, self._documents, self._seed = excerpts, documents, seed
        postings: dict[str, list[int]] = defaultdict(list)
        for at, excerpt in enumerate(excerpts):
            for word in set(words(excerpt.text)):
                if len(postings[word]) <= _RARE:  # one more than rare, which marks it as common
                    postings[word].append(at)
        most = min(_RARE, max(2, len(excerpts) // 20))
        self._holders = {
            word: held for word, held in postings.items() if 2 <= len(held) <= most and _tells(word)
        }

    def of(self, at: int, avoided: frozenset[int]) -> int | None:
        """The position of the best partner of the excerpt at ``at``, or None.

        Copies, ``avoided`` positions and pieces of the same paragraph are excluded.
        """
        own = self._excerpts[at]
        shared: Counter[int] = Counter()
        scores: Counter[int] = Counter()
        for word in sorted(set(words(own.text))):
            for other in self._holders.get(word, ()):
                shared[other] += 1
                scores[other] += 1000 // len(self._holders[word])
        near = [other for other in range(at - _NEAR, at + _NEAR + 1) if 0 <= other < len(self._excerpts)]
        home: list[_Candidate] = []
        elsewhere: list[_Candidate] = []
        for other in sorted({*shared, *near} - {at} - avoided):
            is_home = self._excerpts[other].doc_id == own.doc_id
            if (is_home and other in near) or shared[other] >= _SHARED + (not is_home):
                found = _Candidate(
                    scores[other] + 500 * (is_home and other in near), -abs(other - at), -other
                )
                (home if is_home else elsewhere).append(found)
        if uniform(self._seed, "abroad", own.doc_id, own.text) < _OTHER_DOCUMENT:
            return self._best(at, elsewhere) or self._best(at, home)
        return self._best(at, home) or self._best(at, elsewhere)

    def _best(self, at: int, found: Sequence[_Candidate]) -> int | None:
        for each in sorted(found, reverse=True):
            if self._are_apart(at, -each.other):
                return -each.other
        return None

    def _are_apart(self, one: int, other: int) -> bool:
        """Whether the two are different paragraphs of different content."""
        first, second = self._excerpts[min(one, other)], self._excerpts[max(one, other)]
        if any((copy.doc_id, copy.start) == (second.doc_id, second.start) for copy in first.copies):
            return False
        if first.doc_id != second.doc_id:
            return True
        between = self._documents[first.doc_id].text[first.end : second.start]
        return any(mark in between for mark in "\n\r<")  # pieces of one paragraph stand in one line


def _tells(word: str) -> bool:
    return len(word) >= _LETTERS or is_unspaced(word)


def spans_in(quote: str, text: str) -> list[tuple[int, int]]:
    """Every place of ``quote`` in ``text``, white space ignored, at most 20.

    Nothing for a quote without a single visible character.
    """
    quote = quote.strip()
    if not quote:
        return []
    found = find_spans([quote], [Document("", text)], _MOST_PLACES)[quote]
    if found or not _UNSPACED.search(quote):
        return [(span.start, span.end) for span in found]
    # A line break inside Chinese or Japanese text ends no word, and is seldom copied.
    offsets = [at for at, character in enumerate(text) if not character.isspace()]
    bare, sought = _BLANKS.sub("", text), _BLANKS.sub("", quote)
    at = bare.find(sought)
    return [] if at < 0 else [(offsets[at], offsets[at + len(sought) - 1] + 1)]


def evidence_of(quote: str, excerpt: Excerpt, documents: Mapping[str, Document]) -> Evidence | None:
    """The quote where it stands first in its excerpt, or None when it does not stand there.

    ``alternatives``: its other places in the excerpt and its copies, and in the rest of their documents if it
    is long enough to mean the same there (size 40).
    """
    own = spans_in(quote, excerpt.text)
    if not own:
        return None
    start, end = (excerpt.start + at for at in own[0])
    taken = [(excerpt.doc_id, start, end)]
    for doc_id, first, last in _places(documents[excerpt.doc_id].text[start:end], excerpt, documents):
        if all(doc_id != other or last <= begin or first >= stop for other, begin, stop in taken):
            taken.append((doc_id, first, last))
    first_place, *others = (
        Evidence(doc_id, begin, stop, documents[doc_id].text[begin:stop])
        for doc_id, begin, stop in taken[:_MOST_PLACES]
    )
    return Evidence(first_place.doc_id, start, end, first_place.quote, 1, tuple(others))


def _places(quote: str, excerpt: Excerpt, documents: Mapping[str, Document]) -> list[tuple[str, int, int]]:
    """All places of the quote, those of the excerpt first."""
    places = []
    for each in (excerpt, *excerpt.copies):
        places += [
            (each.doc_id, each.start + start, each.start + end) for start, end in spans_in(quote, each.text)
        ]
    if size(quote) >= _TELLING:
        for doc_id in dict.fromkeys(each.doc_id for each in (excerpt, *excerpt.copies)):
            places += [(doc_id, start, end) for start, end in spans_in(quote, documents[doc_id].text)]
    return places


def uniform(seed: int, *names: str) -> float:
    """A number in [0, 1) that depends on the seed and the names alone, on every machine."""
    told = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=6).digest()) / 2**48
