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
"""Share of sweeps in which a minimum_detectable_effect difference is found: four of five."""
FEWEST_CLUSTERS = 10
"""With fewer effective clusters nothing is said at all."""


def minimum_detectable_effect(
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
    # Pairs that differ on few questions must also pass an exact test, which costs about two of these questions.
    unit = multiple(cells, effective_clusters) ** 2 / effective * (1 + 2 / (discordance * effective))
    difference = sqrt(discordance * unit / (1 + unit))
    return difference if difference <= discordance else None


def required_sample_size(differences: FloatArray, clusters: IntArray, cells: int = 2) -> int | None:
    """About how many questions would separate two cells in four sweeps of five, if they differ as observed.

    ``differences``: float64 (questions,), one cell minus the other; ``clusters``: int64 (questions,). More questions are
    taken to come with more clusters of the same kind. None when the two are equal on average, or differ
    on fewer than two clusters. An observed difference is uncertain, and so is this number: it speaks of the difference *as observed*.
    """
    mean, error = _mean_and_error(differences, clusters)
    if not error or abs(mean) < 1e-12:
        return None
    factor = multiple(cells, effective_clusters(clusters)) * error / abs(mean)
    return max(ceil(len(differences) * factor**2), 1)


def detectable_as_observed(differences: FloatArray, clusters: IntArray, cells: int = 2) -> float | None:
    """The smallest difference found in four sweeps of five between two cells whose questions differ as much as these.

    ``differences``, ``clusters`` and ``cells`` as for ``required_sample_size``; None below ten effective clusters, or when fewer than
    two clusters differ.
    """
    error = _mean_and_error(differences, clusters)[1]
    effective = effective_clusters(clusters)
    return multiple(cells, effective) * error if error and effective >= FEWEST_CLUSTERS else None


def multiple(cells: int, effective_clusters: float) -> float:
    """By how many standard errors two of so many cells must differ to be told apart in four sweeps of five."""
    from scipy import special

    degrees = max(effective_clusters - 1, 1.0)
    critical = -special.stdtrit(degrees, special.ndtr(-dunnett(cells)))
    return float(critical + special.ndtri(DETECTED))


@cache
def dunnett(cells: int, level: float = LEVEL) -> float:
    """The one-sided critical value of the largest of ``cells - 1`` comparisons with one cell, equally correlated by 1/2.

    Dunnett (1955): the root of ``∫ Φ(z + √2 c)^(cells - 1) φ(z) dz = 1 - level``, by Gauss-Hermite quadrature.
    """
    from scipy import special

    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def beyond(critical: float) -> float:
        inside = special.ndtr(nodes + sqrt(2) * critical) ** max(cells - 1, 1)
        return float(weights @ inside) - (1 - level)

    # Halving an interval: scipy's root finders take longer to import than a sweep's whole verdict.
    low, high = 0.0, 10.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) < 0 else (low, middle)
    return high


def _mean_and_error(differences: FloatArray, clusters: IntArray) -> tuple[float, float]:
    """The mean and its cluster-robust error (CR1); the error is 0 where fewer than two clusters differ."""
    if len(differences) == 0:
        return 0.0, 0.0
    sums, sizes = cluster_sums(differences[None, :], clusters)
    count, mean = len(sizes), float(sums.sum() / sizes.sum())
    if count < 2 or np.count_nonzero(sums) < 2:
        return mean, 0.0
    squares = float(((sums[0] - sizes * mean) ** 2).sum()) * count / (count - 1)
    return mean, sqrt(squares) / float(sizes.sum())
