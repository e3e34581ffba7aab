"""The exact sign-flip test of one pair, for pairs that differ on few clusters."""

from __future__ import annotations

import numpy as np

from harness.records import FloatArray

MOST = 40
"""Differing clusters up to which the 2 ** MOST sign patterns are counted, by halves of 2 ** (MOST / 2)."""


def exact_p(differences: FloatArray) -> float:
    """P(Σ ±|d_c| >= Σ d_c) over all equally likely signs, from cluster differences, float64 (clusters,), zeros ignored.

    One-sided, exact for differences that are symmetric about zero under the hypothesis (Fisher 1935). All patterns are counted
    by meeting in the middle: the sums of either half are sorted, and pairs of halves are counted by bisection. 1 without any
    difference. Raises ``ValueError`` for more than 40 differing clusters.
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
