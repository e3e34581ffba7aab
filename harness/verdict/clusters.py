"""Clusters of questions: their sums, bootstrap resamples and sign flips."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from harness.records import Float32Array, FloatArray, IntArray

RESAMPLES = 10_000
"""Resamples of a bootstrap, and of a first look at a sign-flip distribution."""
_BLOCK_CELLS = 2_000_000


def cluster_ids(labels: Sequence[str]) -> IntArray:
    """int64 (questions,): equal numbers for equal labels, from 0 in the order of the sorted labels."""
    if len(labels) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.asarray(labels, dtype=str), return_inverse=True)[1].astype(np.int64).reshape(-1)


def effective_clusters(clusters: IntArray) -> float:
    """G* = n² / Σ n_c²: how many clusters of equal size would be worth as much; 0 without questions.

    Kish (1965); the special case of Carter, Schnepel & Steigerwald (2017) without heterogeneity beyond the
    sizes.
    """
    sizes = np.unique(clusters, return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if len(sizes) else 0.0


def cluster_sums(values: FloatArray, clusters: IntArray) -> tuple[FloatArray, FloatArray]:
    """Sums of cells over clusters, float64 (cells, clusters), and cluster sizes, float64 (clusters,).

    Clusters are ordered by their content alone (size, then sums), so that neither the order of the questions
    nor the numbers of the clusters change what is resampled. Sums are rounded to 12 digits: addition is not
    associative.
    """
    found, which = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(which.reshape(-1), minlength=len(found)).astype(np.float64)
    order = np.argsort(which.reshape(-1), kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    sums = np.add.reduceat(values[:, order], starts, axis=1) if len(found) else np.zeros((len(values), 0))
    sums = np.round(sums, 12)
    content = np.lexsort((*sums[::-1], sizes))
    return np.ascontiguousarray(sums[:, content]), sizes[content]


def seed_of(*arrays: FloatArray) -> int:
    """A seed from the digest of the numbers, to nine digits: the same on every machine."""
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
    """Blocks of float64 (some, clusters): how often each cluster is drawn with replacement."""
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
