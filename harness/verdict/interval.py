"""Confidence limits of a mean over questions in clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.records import FloatArray, IntArray
from harness.verdict import Interval, Method
from harness.verdict.clusters import (
    RESAMPLES,
    bootstrap_weights,
    cluster_sums,
    effective_clusters,
    seed_of,
)

BOOTSTRAP_FROM, ANYTHING_FROM = 30, 10
"""Effective clusters from which limits come from a bootstrap, and from which there are limits at all."""
_DEVIATING = 10


class Robust(NamedTuple):
    """A mean's cluster-robust standard error and the degrees of freedom of its t distribution."""

    error: float
    degrees: float


def method_for(effective: float) -> Method:
    """How limits are found with so many effective clusters."""
    if effective >= BOOTSTRAP_FROM - 1e-9:
        return "bootstrap"
    return "cr2" if effective >= ANYTHING_FROM - 1e-9 else "none"


def mean_intervals(
    values: FloatArray, clusters: IntArray, risk: float = 0.05, share: bool = True
) -> list[Interval]:
    """The mean of each row of ``values``, float64 (rows, questions), with limits of coverage ``1 - risk``.

    At least 30 effective clusters: studentised bootstrap of clusters (Efron & Tibshirani 1993, section 12.5),
    10,000 resamples. 10 to 30: CR2 error with Satterthwaite's t. Below: no limits. With ``share`` (for
    metrics, not for differences) values within 0..1 have limits within 0..1. Where fewer than ten clusters
    deviate from all ones (or all zeros), the limits are Jeffreys' for the effective number of draws (after
    Korn & Graubard 1998), or Clopper & Pearson's for G* where nothing deviates. Any other constant row has no
    limits.
    """
    sums, sizes = cluster_sums(values, clusters)
    effective = effective_clusters(clusters)
    means = sums.sum(axis=1) / sizes.sum()
    method = method_for(effective)
    if method == "none":
        return [Interval(float(mean), None, None) for mean in means]
    bounded = share & (values.min(axis=1) >= 0) & (values.max(axis=1) <= 1)
    few = bounded & (_deviating(sums, sizes) < _DEVIATING)
    constant = np.ptp(sums / sizes, axis=1) < 1e-9
    limits = _bootstrap_t(sums, sizes, risk) if method == "bootstrap" else _satterthwaite(sums, sizes, risk)
    intervals = []
    for row, mean in enumerate(means.tolist()):
        lo, hi = limits[row].tolist()
        if few[row]:
            lo, hi = _near_a_bound(sums[row], sizes, effective, risk)
        elif constant[row]:
            lo, hi = None, None
        elif bounded[row]:
            lo, hi = max(lo, 0.0), min(hi, 1.0)
        intervals.append(Interval(mean, lo, hi))
    return intervals


def cr2(sums: FloatArray, sizes: FloatArray) -> Robust:
    """The CR2 error and Satterthwaite degrees of freedom of one mean, from cluster sums, float64 (clusters,).

    Bell & McCaffrey (2002), Pustejovsky & Tipton (2018), for a regression on a constant alone, where the
    adjustment of cluster ``c`` becomes ``(1 - n_c / n) ** -0.5``. Degrees: ``(tr P)² / Σ P_cd²`` with ``P_cd
    = a_c a_d (n_c [c = d] - n_c n_d / n) / n²``.
    """
    count = sizes.sum()
    adjust = (1 - sizes / count) ** -0.5
    residual = (sums - sizes * sums.sum() / count) * adjust
    own = adjust * sizes
    gram = np.diag(adjust**2 * sizes) - np.outer(own, own) / count
    degrees = np.trace(gram) ** 2 / (gram**2).sum()
    return Robust(float(np.sqrt((residual**2).sum()) / count), float(degrees))


def clopper_pearson(share: float, draws: float, risk: float) -> tuple[float, float]:
    """Exact limits of a share observed in so many draws, which need not be whole numbers."""
    from scipy import special

    hits = share * draws
    lo = 0.0 if share <= 0 else float(special.betaincinv(hits, draws - hits + 1, risk / 2))
    hi = 1.0 if share >= 1 else float(special.betainccinv(hits + 1, draws - hits, risk / 2))
    return lo, hi


def _near_a_bound(sums: FloatArray, sizes: FloatArray, effective: float, risk: float) -> tuple[float, float]:
    """Jeffreys' limits of a share near 0 or 1, for as many draws as its error is worth (G* to n).

    They are widened to hold the share: Jeffreys' exclude one that is not quite 0 or 1.
    """
    from scipy import special

    count = float(sizes.sum())
    share = float(sums.sum()) / count
    if share <= 0 or share >= 1:
        return clopper_pearson(share, effective, risk)
    variance = cr2(sums, sizes).error ** 2
    draws = float(np.clip(share * (1 - share) / variance, effective, count)) if variance > 0 else effective
    hits = share * draws
    limits = special.betaincinv(hits + 0.5, draws - hits + 0.5, [risk / 2, 1 - risk / 2])
    return min(float(limits[0]), share), max(float(limits[1]), share)


def _deviating(sums: FloatArray, sizes: FloatArray) -> IntArray:
    """int64 (rows,): clusters that are not all ones, or not all zeros, whichever are fewer."""
    ones = (np.abs(sums - sizes) > 1e-9).sum(axis=1)
    zeros = (np.abs(sums) > 1e-9).sum(axis=1)
    fewer: IntArray = np.minimum(ones, zeros).astype(np.int64)
    return fewer


def _satterthwaite(sums: FloatArray, sizes: FloatArray, risk: float) -> FloatArray:
    from scipy import special

    means = sums.sum(axis=1) / sizes.sum()
    robust = [cr2(row, sizes) for row in sums]
    half = np.array([-special.stdtrit(r.degrees, risk / 2) * r.error for r in robust])
    return np.stack([means - half, means + half], axis=1)


def _bootstrap_t(sums: FloatArray, sizes: FloatArray, risk: float) -> FloatArray:
    """float64 (rows, 2): limits by the quantiles of (resampled mean - mean) / its error.

    The seed comes from the sizes, and the clusters of one size are ordered by their sums: the limits of a row
    depend neither on the other rows nor on the order of the questions.
    """
    means = sums.sum(axis=1) / sizes.sum()
    sums = np.stack([row[np.lexsort((row, sizes))] for row in sums])
    sizes = np.sort(sizes)
    residual = sums - sizes * means[:, None]
    error = np.sqrt((residual**2).sum(axis=1)) / sizes.sum()
    rng = np.random.default_rng(seed_of(sizes))
    studentised = np.concatenate(
        [_studentised(weights, residual, sizes) for weights in bootstrap_weights(rng, len(sizes), RESAMPLES)]
    )
    low, high = np.quantile(studentised, [risk / 2, 1 - risk / 2], axis=0, method="inverted_cdf")
    return np.stack([means - high * error, means - low * error], axis=1)


def _studentised(weights: FloatArray, residual: FloatArray, sizes: FloatArray) -> FloatArray:
    """float64 (some, rows); sums of squares come from products of the weights."""
    count = (weights @ sizes)[:, None]
    shift = (weights @ residual.T) / count
    squares = weights @ (residual**2).T - 2 * shift * (weights @ (residual * sizes).T)
    squares += shift**2 * (weights @ sizes**2)[:, None]
    error = np.sqrt(np.maximum(squares, 0.0)) / count
    # A resample without spread leaves that side unbounded.
    nothing = np.where(np.abs(shift) < 1e-12, 0.0, np.copysign(np.inf, shift))
    return np.divide(shift, error, out=nothing, where=error > 1e-12)
