"""Two excerpts that one question can be about: neighbours, or two that share words which hardly any other has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.questions.generate import Excerpt
from harness.questions.generate.turns import uniform
from harness.records import Document
from harness.text.words import is_unspaced, words

_RARE = 24  # a word that more excerpts have (or one in twenty) says nothing about two of them
_SHARED = 2  # rare words, at least; of two documents one more
_ABROAD = 0.25  # share of the pairs that are looked for in two documents first
_NEAR = 2  # excerpts
_LETTERS = 4  # shorter words are seldom names


class _Found(NamedTuple):
    score: float
    nearness: int
    other: int


class Partners:
    """Finds for an excerpt another one; ``excerpts`` of all documents in order, those of one document together."""

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

        It is no copy, not ``avoided``, and not a piece of the same paragraph.
        """
        own = self._excerpts[at]
        shared: Counter[int] = Counter()
        scores: Counter[int] = Counter()
        for word in sorted(set(words(own.text))):
            for other in self._holders.get(word, ()):
                shared[other] += 1
                scores[other] += 1000 // len(self._holders[word])
        near = [other for other in range(at - _NEAR, at + _NEAR + 1) if 0 <= other < len(self._excerpts)]
        home: list[_Found] = []
        abroad: list[_Found] = []
        for other in sorted({*shared, *near} - {at} - avoided):
            is_home = self._excerpts[other].doc_id == own.doc_id
            if (is_home and other in near) or shared[other] >= _SHARED + (not is_home):
                found = _Found(scores[other] + 500 * (is_home and other in near), -abs(other - at), -other)
                (home if is_home else abroad).append(found)
        if uniform(self._seed, "abroad", own.doc_id, own.text) < _ABROAD:
            return self._best(at, abroad) or self._best(at, home)
        return self._best(at, home) or self._best(at, abroad)

    def _best(self, at: int, found: Sequence[_Found]) -> int | None:
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
