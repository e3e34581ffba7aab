"""Whose turn it is: documents in an order that no file and no length dominates."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from harness.records import FloatArray, IntArray


def turns(
    doc_ids: Sequence[str], counts: IntArray, weights: FloatArray, seed: int, *, evenly: bool
) -> IntArray:
    """Positions of documents, ``counts[d]`` times each: any beginning of the list holds each about in proportion to its weight.

    Document ``d`` comes at the times ``(j + u) / weights[d]``, ``u`` uniform in [0, 1) from the seed and its id (systematic sampling: within
    one turn of its share at any time, and long files first only by chance). ``evenly``: nobody has a third turn before everybody had one.
    A weight of 0 has no turns.
    """
    held = np.flatnonzero((counts > 0) & (weights > 0))
    if not len(held):
        return np.zeros(0, np.int64)
    offsets = np.array([uniform(seed, doc_ids[at]) for at in held.tolist()])
    document = np.repeat(held, counts[held])
    turn = np.arange(len(document)) - np.repeat(np.cumsum(counts[held]) - counts[held], counts[held])
    with np.errstate(over="ignore"):  # hardly any weight: at the very end
        times = (turn + np.repeat(offsets, counts[held])) / weights[document]
    waits = np.where(turn >= 2, times[turn == 0].max(), 0.0) if evenly else np.zeros(len(times))
    return document[np.lexsort((document, times, turn >= 2, np.maximum(times, waits)))]


def uniform(seed: int, *names: str) -> float:
    """A number in [0, 1) that depends on the seed and the names alone, on every machine."""
    told = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(told, digest_size=6).digest()) / 2**48
