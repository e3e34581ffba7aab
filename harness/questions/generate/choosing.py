"""Which passages questions are written about, and in which order."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from harness.questions.generate import Excerpt, Passage
from harness.questions.generate.excerpts import Partners, uniform, with_copies
from harness.questions.generate.paragraphs import excerpts_of
from harness.records import Document, FloatArray, IntArray
from harness.text.words import size


def stratified_order(doc_ids: Sequence[str], counts: IntArray, weights: FloatArray, seed: int) -> IntArray:
    """Positions of documents, ``counts[d]`` times each, in an order stratified by weight.

    Document ``d`` comes at the times ``(j + u) / weights[d]``, ``u`` uniform in [0, 1) from the seed and its
    id (systematic sampling), but no document has a third turn before every one had a first. A document of
    weight 0 has none.
    """
    held = np.flatnonzero((counts > 0) & (weights > 0))
    if not len(held):
        return np.zeros(0, np.int64)
    offsets = np.array([uniform(seed, doc_ids[at]) for at in held.tolist()])
    document = np.repeat(held, counts[held])
    turn = np.arange(len(document)) - np.repeat(np.cumsum(counts[held]) - counts[held], counts[held])
    with np.errstate(over="ignore"):  # hardly any weight: at the very end
        times = (turn + np.repeat(offsets, counts[held])) / weights[document]
    waits = np.where(turn >= 2, times[turn == 0].max(), 0.0)
    return document[np.lexsort((document, times, turn >= 2, np.maximum(times, waits)))]


class PassageOrder:
    """Passages of ``documents`` in a fixed order that depends on them and on ``seed`` alone.

    Asking for more passages never changes the first ones, and the order of ``documents`` does not matter. A
    file's share grows with the square root of its text, and no file has a third turn before each had one.
    ``pairs``: share of any first passages that have two excerpts, as far as the documents give them; more
    than the fifth that is wanted, since more of them fail.

    Of excerpts that are copies of each other, one is asked about; the others come last, and those that are
    the same word for word never.
    """

    def __init__(self, documents: Sequence[Document], seed: int = 0, pairs: float = 0.3) -> None:
        self._seed, self._pairs = seed, pairs
        self._documents = sorted(documents, key=lambda document: document.doc_id)
        own = with_copies(excerpts_of(self._documents))
        self._excerpts = [excerpt for excerpts in own for excerpt in excerpts]
        self._counts = np.array([len(excerpts) for excerpts in own], np.int64)

    def first(self, n: int) -> list[Passage]:
        """The first ``n`` passages; fewer when the documents have no more."""
        return list(islice(self, n))

    def __iter__(self) -> Iterator[Passage]:
        """All passages in order, made as they are asked for."""
        partners = Partners(
            self._excerpts, {document.doc_id: document for document in self._documents}, self._seed
        )
        made, paired = 0, 0
        used: dict[int, set[int]] = defaultdict(set)
        ids: set[str] = set()
        for at, is_last in self._singles():
            other = None
            if not is_last and paired < math.ceil(self._pairs * (made + 1)):
                other = partners.of(at, frozenset(used[at]))
            if other is not None:
                used[at].add(other)
                used[other].add(at)
            together = [at] if other is None else sorted((at, other))
            passage = _passage([self._excerpts[each] for each in together])
            if passage.passage_id not in ids:
                ids.add(passage.passage_id)
                made += 1
                paired += other is not None
                yield passage

    def _singles(self) -> Iterator[tuple[int, bool]]:
        """Positions of excerpts in order, and whether it is one of the copies that come last."""
        begins = np.cumsum(self._counts) - self._counts
        queues = [
            deque(sorted(range(begin, begin + count), key=self._chance))
            for begin, count in zip(begins.tolist(), self._counts.tolist(), strict=True)
        ]
        covered: dict[tuple[str, int], set[str]] = defaultdict(set)
        late: list[int] = []
        for document in self._turns():
            while queues[document]:
                at = queues[document].popleft()
                excerpt = self._excerpts[at]
                told = covered[excerpt.doc_id, excerpt.start]
                if not told:
                    for each in (excerpt, *excerpt.copies):
                        covered[each.doc_id, each.start].add(_same(excerpt))
                    yield at, False
                    break
                late += [] if _same(excerpt) in told else [at]
        done: set[str] = set()
        for at in late:
            words = _same(self._excerpts[at])
            if words not in done | covered[self._excerpts[at].doc_id, self._excerpts[at].start]:
                done.add(words)
                yield at, True

    def _chance(self, at: int) -> float:
        return uniform(self._seed, self._excerpts[at].doc_id, self._excerpts[at].text)

    def _turns(self) -> Iterator[int]:
        doc_ids = [document.doc_id for document in self._documents]
        of_document: dict[str, int] = defaultdict(int)
        for excerpt in self._excerpts:
            of_document[excerpt.doc_id] += size(excerpt.text)
        shares = np.sqrt(np.array([of_document[doc_id] for doc_id in doc_ids], np.float64))
        yield from stratified_order(doc_ids, self._counts, shares, self._seed).tolist()


def _same(excerpt: Excerpt) -> str:
    return " ".join(excerpt.text.split())


def _passage(excerpts: Sequence[Excerpt]) -> Passage:
    told = json.dumps([[excerpt.doc_id, excerpt.text] for excerpt in excerpts])
    return Passage(hashlib.blake2b(told.encode(), digest_size=16).hexdigest(), tuple(excerpts))
