"""Tests by flipping the signs of whole clusters: jointly in steps, each alone, and exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.records import Float32Array, FloatArray, IntArray
from harness.verdict import BoolArray
from harness.verdict.clusters import RESAMPLES

RISK = 0.001
"""Risk that more resamples would have decided a p the other way."""
LOOKS = 5
"""Each look has twice the resamples of the one before: 10,000 to 160,000."""
_EQUAL = 1e-5
MOST = 40
"""Differing clusters up to which the 2 ** MOST sign patterns are counted, by halves of 2 ** (MOST / 2)."""

Draw: TypeAlias = Callable[[int], FloatArray | Float32Array]
"""``draw(resamples)`` gives (resamples, units): every unit's statistic under its hypothesis."""


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
    for drawn in _looks(draw, looks, first):
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


class Alone(NamedTuple):
    """Tests without correction: ``critical``, float64 (units,), and whether they are settled.

    ``settled``: the resamples settle that every statistic exceeds its critical value, or that one does not.
    """

    critical: FloatArray
    settled: bool


def each_alone(
    draw: Draw, observed: FloatArray, level: float, looks: int = LOOKS, first: int = RESAMPLES
) -> Alone:
    """Compares each statistic with its own resamples at ``level``.

    ``looks`` and ``first``: see ``step_down``.
    """
    for drawn in _looks(draw, looks, first):
        exceeding = (drawn >= observed - _EQUAL).sum(axis=0)
        low, high = _clear_of(level, exceeding, len(drawn), RISK / looks)
        settled = bool(low.all() or high.any())
        if settled:
            break
    return Alone(_upper(drawn, int(np.floor(level * (len(drawn) + 1)))) + _EQUAL, settled)


def _looks(draw: Draw, looks: int, first: int) -> Iterator[FloatArray | Float32Array]:
    """All resamples so far, at each look twice as many."""
    drawn = draw(first)
    yield drawn
    for _ in range(looks - 1):
        drawn = np.concatenate([drawn, draw(len(drawn))])
        yield drawn


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
