"""Random weights of clusters, in blocks, from a seed that the data themselves give."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from harness.records import Float32Array, FloatArray

RESAMPLES = 10_000
"""Resamples of a bootstrap, and of a first look at a sign-flip distribution."""
_BLOCK_CELLS = 2_000_000


def seed_of(*arrays: FloatArray) -> int:
    """A seed from the digest of the numbers, to nine digits: the same data give the same verdict on every machine."""
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        # + 0.0: minus zero is zero.
        rounded = np.ascontiguousarray(np.round(np.asarray(array, dtype=np.float64), 9) + 0.0)
        digest.update(str(rounded.shape).encode())
        digest.update(rounded.astype("<f8").tobytes())
    return int.from_bytes(digest.digest(), "little")


def bootstrap_weights(
    rng: np.random.Generator, clusters: int, resamples: int = RESAMPLES
) -> Iterator[FloatArray]:
    """Blocks of float64 (some, clusters): how often each cluster was drawn, ``clusters`` draws with replacement a row."""
    for some in _blocks(resamples, clusters):
        drawn = rng.integers(0, clusters, size=(some, clusters)) + np.arange(some)[:, None] * clusters
        counts = np.bincount(drawn.reshape(-1), minlength=some * clusters)
        yield counts.reshape(some, clusters).astype(np.float64)


def sign_flips(rng: np.random.Generator, clusters: int, resamples: int) -> Iterator[Float32Array]:
    """Blocks of float32 (clusters, some) of +1 and -1; one column is one resample."""
    for some in _blocks(resamples, max(clusters, 1000)):
        bits = np.unpackbits(np.frombuffer(rng.bytes((clusters * some + 7) // 8), dtype=np.uint8))
        signs = bits[: clusters * some].reshape(clusters, some).astype(np.float32)
        signs *= 2
        signs -= 1
        yield signs


def _blocks(resamples: int, width: int) -> Iterator[int]:
    most = max(_BLOCK_CELLS // max(width, 1), 1)
    for first in range(0, resamples, most):
        yield min(most, resamples - first)
