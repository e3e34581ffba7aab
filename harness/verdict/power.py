"""What a number of questions can show: detectable effects, margins, sample sizes, and expected scores."""

from __future__ import annotations

from math import ceil, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from harness.records import FloatArray, IntArray
from harness.verdict import LEVEL
from harness.verdict.clusters import cluster_sums, effective_clusters, seed_of

ASSUMED_DISCORDANCE = 0.15
"""The share of questions that only one of two cells answers, where it was not measured."""
MARGINS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1)
"""Margins that are chosen by default; no loss beyond the last one is called small."""
SEQUENCE = 2.7955
"""``a`` with ``2 (1 - Φ(a) + a φ(a)) = 5%``; see ``level_after_growth``."""
DETECTED = 0.8
"""Power: the share of sweeps in which the minimum detectable effect is found."""
_CORRELATION = 0.05  # of the differences of two questions of one cluster
FEWEST_CLUSTERS = 10
"""Below so many effective clusters no number is given."""
FOLDS, REPEATS = 10, 50


def minimum_detectable_effect(
    questions: int, effective_clusters: float, discordance: float = ASSUMED_DISCORDANCE
) -> float | None:
    """The smallest true difference between two cells that is found with 80% power; None where there is none.

    ``discordance``: the share of questions that only one of the two cells answers. The variance of a
    difference is ``(discordance - δ²) * deff / n`` (McNemar's, without continuity correction); ``deff``: see
    ``_unit``. None below ten effective clusters, or when even a rival that loses every question on which the
    two differ would not be found.
    """
    if questions < 2 or effective_clusters < FEWEST_CLUSTERS or discordance <= 0:
        return None
    unit = _unit(questions, effective_clusters, discordance, LEVEL)
    difference = sqrt(discordance * unit / (1 + unit))
    return difference if difference <= discordance else None


def demonstrable_margin(
    questions: int,
    effective_clusters: float,
    discordance: float = ASSUMED_DISCORDANCE,
    level: float = LEVEL,
) -> float:
    """The smallest margin that a truly equal cell keeps in 80% of sweeps; infinite below two questions.

    It depends on the number of questions and their clusters and never on a result, so that a test against it
    keeps its ``level``.
    """
    if questions < 2:
        return inf
    return sqrt(discordance * _unit(questions, effective_clusters, discordance, level))


def readable_margin(smallest: float) -> float:
    """The first of ``MARGINS`` that is not below ``smallest``, else the largest of them."""
    return next((margin for margin in MARGINS if margin >= smallest), MARGINS[-1])


class Look(NamedTuple):
    """Which verdict on a growing golden set it is, from 1, and the risk of its one-sided comparisons."""

    number: int = 1
    level: float = LEVEL


FIRST_LOOK = Look()


def level_after_growth(growth: float) -> float:
    """The one-sided level of a verdict on a set that has ``growth`` times the questions of its first verdict.

    2.5% for the first verdict. Later ones form a confidence sequence: ``z² = a² + ln(growth)``, so that all
    of them together hold with 95%, however many there are (Robbins 1970).
    """
    from scipy import special

    return LEVEL if growth <= 1 else float(special.ndtr(-sqrt(SEQUENCE**2 + log(growth))))


def _unit(questions: int, effective_clusters: float, discordance: float, level: float) -> float:
    """The squared minimum detectable effect per discordance, with ``deff = 1 + (n / G* - 1) * 0.05`` (Kish).

    Pairs that differ on few questions must also pass an exact test, which costs about two of these questions.
    """
    effective = questions / (1 + (questions / effective_clusters - 1) * _CORRELATION)
    return multiple(effective_clusters, level) ** 2 / effective * (1 + 2 / (discordance * effective))


def required_sample_size(differences: FloatArray, clusters: IntArray, level: float = LEVEL) -> int | None:
    """About how many questions separate two cells with 80% power, if they differ as observed.

    ``differences``: float64 (questions,), one cell minus the other; ``clusters``: int64 (questions,). More
    questions are assumed to come with more clusters of the same kind. None when the two are equal on average,
    or differ on fewer than two clusters. The observed difference is uncertain, and so is this number.
    """
    mean, error = _mean_and_error(differences, clusters)
    if not error or abs(mean) < 1e-12:
        return None
    factor = multiple(effective_clusters(clusters), level) * error / abs(mean)
    return max(ceil(len(differences) * factor**2), 1)


def detectable_as_observed(differences: FloatArray, clusters: IntArray, level: float = LEVEL) -> float | None:
    """The minimum detectable effect between two cells whose questions differ as much as these.

    ``differences`` and ``clusters`` as for ``required_sample_size``; None below ten effective
    clusters, or when fewer than two clusters differ.
    """
    error = _mean_and_error(differences, clusters)[1]
    effective = effective_clusters(clusters)
    return multiple(effective, level) * error if error and effective >= FEWEST_CLUSTERS else None


def multiple(effective_clusters: float, level: float = LEVEL) -> float:
    """By how many standard errors two cells must differ to be told apart at ``level`` with 80% power."""
    from scipy import special

    return float(special.ndtri(DETECTED) - special.stdtrit(max(effective_clusters - 1, 1.0), level))


def detected_share(effective_clusters: float, level: float) -> float:
    """The part of ``multiple`` that is there for the 80% power."""
    from scipy import special

    return float(special.ndtri(DETECTED)) / multiple(effective_clusters, level)


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


class ExpectedScore(NamedTuple):
    """What selecting the best observed cell is worth.

    ``score``: the mean to expect of the selected cell on new questions. ``optimism``: the best observed mean
    minus that; near or below 0 where the selection is clear.
    """

    score: float
    optimism: float


def cross_fitted(
    sums: FloatArray, sizes: FloatArray, folds: int = FOLDS, repeats: int = REPEATS
) -> ExpectedScore:
    """Selects on nine tenths of the clusters and scores on the rest, for every tenth and 50 partitions.

    ``sums``: float64 (cells, clusters). Needs as many clusters as folds. Each selection uses a tenth fewer
    clusters than there are, which errs on the low side.
    """
    rng = np.random.default_rng(seed_of(sums, sizes))
    clusters = len(sizes)
    order = np.argsort(rng.random((repeats, clusters)), axis=1)
    fold = np.empty((repeats, clusters), dtype=np.int64)
    np.put_along_axis(fold, order, np.arange(clusters)[None, :] * folds // clusters, axis=1)
    fold += np.arange(repeats)[:, None] * folds
    member = np.zeros((clusters, repeats * folds))
    member[np.tile(np.arange(clusters), repeats), fold.reshape(-1)] = 1.0
    held, held_sizes = sums @ member, sizes @ member
    kept = (sums.sum(axis=1)[:, None] - held) / np.maximum(sizes.sum() - held_sizes, 1e-300)
    leading = np.isclose(kept, kept.max(axis=0), rtol=0, atol=1e-12)
    scored = (held * leading).sum(axis=0) / leading.sum(axis=0)
    score = float(scored.sum() / held_sizes.sum())
    best = float((sums.sum(axis=1) / sizes.sum()).max())
    # Sums of folds differ from whole sums in the last digits.
    score = best if abs(best - score) < 1e-12 else score
    return ExpectedScore(score, best - score)
