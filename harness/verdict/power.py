"""What difference a set of questions can show, and how many questions would show a given one."""

from __future__ import annotations

from functools import cache
from math import ceil, sqrt

import numpy as np

from harness.records import FloatArray, IntArray
from harness.verdict.clusters import cluster_sums, effective_clusters

LEVEL = 0.025
"""Risk of each one-sided comparison: 5% for both directions."""
DETECTED = 0.8
"""Share of sweeps in which a detectable difference is found: four of five."""
FEWEST_CLUSTERS = 10
"""With fewer effective clusters nothing is said at all."""


def detectable(
    questions: int,
    effective_clusters: float,
    discordance: float = 0.15,
    cells: int = 2,
    correlation: float = 0.05,
) -> float | None:
    """The smallest true difference between two cells that is found in four sweeps of five; None where none can be.

    ``discordance`` is the share of questions that one of the two answers and the other doesn't; ``cells`` is the size of the
    sweep, because more cells ask for more evidence; ``correlation`` is that of the differences of two questions of one
    cluster. The variance of a difference is ``(discordance - δ²) * deff / n`` (McNemar's, without continuity correction)
    with ``deff = 1 + (n / G* - 1) * correlation`` (Kish). None below ten effective clusters, or when even a rival that loses
    every question on which the two differ would not be found.
    """
    if questions < 2 or effective_clusters < FEWEST_CLUSTERS or discordance <= 0:
        return None
    effective = questions / (1 + (questions / effective_clusters - 1) * correlation)
    unit = multiple(cells, effective_clusters) ** 2 / effective
    difference = sqrt(discordance * unit / (1 + unit))
    return difference if difference <= discordance else None


def questions_needed(differences: FloatArray, clusters: IntArray, cells: int = 2) -> int | None:
    """About how many questions would separate two cells in four sweeps of five, if they differ as observed.

    ``differences``: float64 (questions,), one cell minus the other; ``clusters``: int64 (questions,). More questions are
    taken to come with more clusters of the same kind. None when the two are equal on average, or differ
    on fewer than two clusters. An observed difference is uncertain, and so is this number: it speaks of the difference *as observed*.
    """
    if len(differences) == 0:
        return None
    sums, sizes = cluster_sums(differences[None, :], clusters)
    count, mean = len(sizes), float(sums.sum() / sizes.sum())
    if count < 2 or np.count_nonzero(sums) < 2 or abs(mean) < 1e-12:
        return None
    error = sqrt(float(((sums[0] - sizes * mean) ** 2).sum()) * count / (count - 1)) / sizes.sum()
    degrees = max(effective_clusters(clusters), 2.0)
    needed = len(differences) * (multiple(cells, degrees) * error / abs(mean)) ** 2
    return max(ceil(float(needed)), 1)


def multiple(cells: int, effective_clusters: float) -> float:
    """By how many standard errors two of so many cells must differ to be told apart in four sweeps of five."""
    from scipy import stats

    degrees = max(effective_clusters - 1, 1.0)
    critical = stats.t.isf(stats.norm.sf(dunnett(cells)), degrees)
    return float(critical + stats.norm.isf(1 - DETECTED))


@cache
def dunnett(cells: int, level: float = LEVEL) -> float:
    """The one-sided critical value of the largest of ``cells - 1`` comparisons with one cell, equally correlated by 1/2.

    Dunnett (1955): the root of ``∫ Φ(z + √2 c)^(cells - 1) φ(z) dz = 1 - level``, by Gauss-Hermite quadrature.
    """
    from scipy import optimize, stats

    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def beyond(critical: float) -> float:
        inside = stats.norm.cdf(nodes + sqrt(2) * critical) ** max(cells - 1, 1)
        return float(weights @ inside) - (1 - level)

    return float(optimize.brentq(beyond, 0.0, 10.0, xtol=1e-10))
