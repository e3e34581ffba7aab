"""Excerpts that say nearly the same in the same words.

MinHash signatures of runs of three words, in bands (Broder 1997; Indyk & Motwani 1998), find the pairs that may be alike, and the runs
themselves are then compared exactly: time grows with the corpus, and chance only ever misses a pair.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from harness.questions.generate import Excerpt
from harness.text.words import units

_Hashes: TypeAlias = npt.NDArray[np.uint64]
_ALIKE = 0.7  # Jaccard similarity; one word in forty words changed leaves 0.85, two leave 0.73
_RUN = 3  # words
_BANDS, _ROWS = 24, 4  # 24 bands of 4 find a pair of 0.7 with probability 1 - (1 - 0.7**4)**24 = 0.998
_NEIGHBOURS = 30  # of a bucket, each is compared with so many that follow
_MOST = 20  # copies of one excerpt; a place that has more is no place to ask about


def with_copies(excerpts: Sequence[Sequence[Excerpt]]) -> list[list[Excerpt]]:
    """The excerpts of each document, as they come, each with its ``copies``: in the order given, at most 20, without copies of their own.

    Two are copies of each other when at least 0.7 of all their different runs of three words are in both.
    """
    flat = [excerpt for own in excerpts for excerpt in own]
    copies: dict[int, set[int]] = defaultdict(set)
    runs = [_runs(excerpt.text) for excerpt in flat]
    for one, other in _candidates(runs):
        if _similarity(runs[one], runs[other]) >= _ALIKE:
            copies[one].add(other)
            copies[other].add(one)
    numbered = iter(range(len(flat)))
    return [[_with(flat, next(numbered), copies) for _ in own] for own in excerpts]


def _with(flat: Sequence[Excerpt], at: int, copies: dict[int, set[int]]) -> Excerpt:
    own = flat[at]
    if at not in copies:
        return own
    others = tuple(flat[other] for other in sorted(copies[at])[:_MOST])
    return Excerpt(own.doc_id, own.start, own.end, own.text, own.heading, others)


def _runs(text: str) -> _Hashes:
    """Hashes of the different runs of three words, increasing; of a shorter text, of all its words."""
    words = units(text)
    hashes = np.fromiter(
        (zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words), np.uint64, len(words)
    )
    width = max(1, min(_RUN, len(words)))
    mixed = np.zeros(max(0, len(words) - width + 1), np.uint64)
    for place in range(width):
        mixed = _mix(mixed + hashes[place : place + len(mixed)])
    return np.unique(mixed)


def _mix(values: _Hashes) -> _Hashes:
    """A bijection of 64-bit numbers that leaves no pattern (the finaliser of splitmix64, Steele et al. 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _candidates(runs: Sequence[_Hashes]) -> Iterator[tuple[int, int]]:
    """Pairs of positions whose signatures agree in a band, each once, the smaller position first."""
    held = [at for at, own in enumerate(runs) if len(own)]
    if len(held) < 2:
        return
    joined = np.concatenate([runs[at] for at in held])
    begins = np.concatenate(([0], np.cumsum([len(runs[at]) for at in held])[:-1]))
    seen: set[tuple[int, int]] = set()
    for band in range(_BANDS):
        keys = np.zeros(len(held), np.uint64)
        for row in range(_ROWS):
            salt = _mix(np.array([band * _ROWS + row + 1], np.uint64))
            keys = _mix(keys ^ np.minimum.reduceat(_mix(joined ^ salt), begins))
        for pair in _equal(keys):
            if pair not in seen:
                seen.add(pair)
                yield held[pair[0]], held[pair[1]]


def _equal(keys: _Hashes) -> Iterator[tuple[int, int]]:
    order = np.argsort(keys, kind="stable")
    ends = np.flatnonzero(np.append(keys[order][1:] != keys[order][:-1], True)) + 1
    begin = 0
    for end in ends.tolist():
        bucket = order[begin:end].tolist()
        begin = end
        for i, one in enumerate(bucket if len(bucket) > 1 else ()):
            for other in bucket[i + 1 : i + 1 + _NEIGHBOURS]:
                yield one, other


def _similarity(one: _Hashes, other: _Hashes) -> float:
    shared = len(np.intersect1d(one, other, assume_unique=True))
    return shared / (len(one) + len(other) - shared)
