"""How many resamples a decision takes: as many as put its p clear of the threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.records import Float32Array, FloatArray, IntArray
from harness.verdict import BoolArray
from harness.verdict.resampling import RESAMPLES

RISK = 0.001
"""Risk that more resamples would have decided a p the other way."""
LOOKS = 5
"""Each look has twice the resamples of the one before: 10,000 to 160,000."""
_EQUAL = 1e-5

Draw: TypeAlias = Callable[[int], FloatArray | Float32Array]
"""``draw(resamples)`` gives (resamples, units): every unit's statistic under its hypothesis."""


class Decision(NamedTuple):
    """Of each unit: its adjusted ``p``, whether its hypothesis is ``rejected``, and whether the resamples ``decided`` that.

    ``critical``: the last step's critical value, that of two units at least where there are two: best_set's last unit, the best
    observed, has no rival above it and stands. ``alone``: float64 (units,),
    what each unit's own statistic exceeds with probability ``level / 2``.
    """

    p: FloatArray
    rejected: BoolArray
    decided: BoolArray
    critical: float
    alone: FloatArray


def step_down(
    draw: Draw, observed: FloatArray, level: float, looks: int = LOOKS, first: int = RESAMPLES
) -> Decision:
    """Rejects hypotheses one after the other, the largest statistic first, until one stands.

    Each is compared with the largest resampled statistic of those that still stand (Romano & Wolf 2005), so that any true
    hypothesis is rejected with probability ``level`` at most. p is ``(1 + exceeding) / (1 + resamples)`` (Phipson & Smyth 2010).
    Resamples are added until the Monte Carlo interval of every p on which something hangs excludes the level (after Gandy 2009:
    risk 0.001, in equal parts over the looks), or until the last look.
    """
    order = np.argsort(-observed, kind="stable")
    drawn = draw(first)
    for look in range(looks):
        if look:
            drawn = np.concatenate([drawn, draw(len(drawn))])
        standing = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
        exceeding = (standing >= observed[order] - _EQUAL).sum(axis=0)
        low, high = _clear_of(level, exceeding, len(drawn), RISK / looks)
        decided = np.logical_and.accumulate(low) | np.logical_or.accumulate(high)
        if decided.all():
            break
    place = int(np.floor(level * (len(drawn) + 1)))
    rejected = np.logical_and.accumulate(1 + exceeding <= place)
    stop = min(int(rejected.sum()), max(len(order) - 2, 0))
    back = np.argsort(order, kind="stable")
    return Decision(
        p=np.maximum.accumulate((1 + exceeding) / (1 + len(drawn)))[back],
        rejected=rejected[back],
        decided=decided[back],
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
