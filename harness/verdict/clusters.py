"""Clusters of questions: sums, resamples, and tests that flip the signs of whole clusters."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.records import Float32Array, FloatArray, IntArray
from harness.verdict import BoolArray

RESAMPLES = 10_000
"""Resamples of a bootstrap, and of a first look at a sign-flip distribution."""
_BLOCK_CELLS = 2_000_000
RISK = 0.001
"""Risk that more resamples would have decided a p the other way."""
LOOKS = 5
"""Each look has twice the resamples of the one before: 10,000 to 160,000."""
_EQUAL = 1e-5
MOST = 40
"""Differing clusters up to which the 2 ** MOST sign patterns are counted, by halves of 2 ** (MOST / 2)."""

Draw: TypeAlias = Callable[[int], FloatArray | Float32Array]
"""``draw(resamples)`` gives (resamples, units): every unit's statistic under its hypothesis."""


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


class StepDown(NamedTuple):
    """Adjusted ``p`` per unit, whether its hypothesis is ``rejected``, and whether that is ``settled``.

    ``critical``: the critical value of the last step, of at least two units where there are two: the last
    unit of ``best_set``, the best observed, has no rival above it. ``alone``: float64 (units,), what the
    statistic of each unit exceeds with probability ``level / 2``.
    """

    p: FloatArray
    rejected: BoolArray
    settled: BoolArray
    critical: float
    alone: FloatArray


def step_down(
    draw: Draw, observed: FloatArray, level: float, looks: int = LOOKS, first: int = RESAMPLES
) -> StepDown:
    """Rejects hypotheses one after the other, the largest statistic first, until one stands.

    Each is compared with the largest resampled statistic of those that still stand (Romano & Wolf 2005), so
    that any true hypothesis is rejected with probability ``level`` at most. p is ``(1 + exceeding) / (1 +
    resamples)`` (Phipson & Smyth 2010). Resamples are added until the Monte Carlo interval of every relevant
    p excludes the level (after Gandy 2009: risk 0.001, in equal parts over the looks), or until the last
    look.
    """
    order = np.argsort(-observed, kind="stable")
    drawn = draw(first)
    for look in range(looks):
        if look:
            drawn = np.concatenate([drawn, draw(len(drawn))])
        standing = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
        exceeding = (standing >= observed[order] - _EQUAL).sum(axis=0)
        low, high = _clear_of(level, exceeding, len(drawn), RISK / looks)
        settled = np.logical_and.accumulate(low) | np.logical_or.accumulate(high)
        if settled.all():
            break
    place = int(np.floor(level * (len(drawn) + 1)))
    rejected = np.logical_and.accumulate(1 + exceeding <= place)
    stop = min(int(rejected.sum()), max(len(order) - 2, 0))
    back = np.argsort(order, kind="stable")
    return StepDown(
        p=np.maximum.accumulate((1 + exceeding) / (1 + len(drawn)))[back],
        rejected=rejected[back],
        settled=settled[back],
        critical=float(_upper(standing[:, stop : stop + 1], place)[0]) + _EQUAL,
        alone=_upper(drawn, int(np.floor(level / 2 * (len(drawn) + 1)))) + _EQUAL,
    )


def _upper(drawn: FloatArray | Float32Array, place: int) -> FloatArray:
    """The ``place``-th largest of each column; infinite for none."""
    if place < 1:
        return np.full(drawn.shape[1], np.inf)
    found: FloatArray = np.partition(drawn, len(drawn) - place, axis=0)[len(drawn) - place].astype(np.float64)
    return found


def _clear_of(level: float, exceeding: IntArray, count: int, risk: float) -> tuple[BoolArray, BoolArray]:
    """Where Clopper & Pearson's interval of each p lies wholly below the level, and wholly above."""
    from scipy import special

    # The binomial distribution from below and from above.
    low: BoolArray = special.bdtr(exceeding.astype(np.float64), count, level) <= risk / 2
    high: BoolArray = special.bdtrc(exceeding - 1.0, count, level) <= risk / 2
    return low, high


def exact_p(differences: FloatArray) -> float:
    """P(Σ ±|d_c| >= Σ d_c) over all signs, from cluster differences, float64 (clusters,); zeros are ignored.

    One-sided, exact for differences that are symmetric about zero under the hypothesis (Fisher 1935). All
    patterns are counted by meeting in the middle: the sums of either half are sorted, and pairs of halves are
    counted by bisection. 1 without any difference. Raises ``ValueError`` for more than 40 differing clusters.
    """
    sizes = np.abs(differences[np.abs(differences) > 1e-12])
    if len(sizes) > MOST:
        raise ValueError(
            f"{len(sizes)} clusters differ; the exact test counts at most {MOST}. Resample instead."
        )
    observed = float(differences.sum())
    left, right = _all_sums(sizes[: len(sizes) // 2]), np.sort(_all_sums(sizes[len(sizes) // 2 :]))
    below = np.searchsorted(right, observed - left - 1e-9)
    return float((len(right) - below).sum() / 2 ** len(sizes))


def holm(p: FloatArray) -> FloatArray:
    """Holm's (1979) adjusted p of each test, float64, in the order given."""
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    found = np.empty_like(p)
    found[order] = np.minimum(adjusted, 1.0)
    return found


def _all_sums(sizes: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums
