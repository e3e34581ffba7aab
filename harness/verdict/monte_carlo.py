"""How many resamples a decision takes: as many as put its p clear of the threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.records import FloatArray, IntArray
from harness.verdict import BoolArray
from harness.verdict.resampling import RESAMPLES

RISK = 0.001
"""Risk that more resamples would have decided a p the other way."""
LOOKS = 5
"""Each look has twice the resamples of the one before: 10,000 to 160,000."""

Draw: TypeAlias = Callable[[int, IntArray], FloatArray]
"""``draw(resamples, units)`` gives float64 (resamples, units): the statistic of these units under their hypothesis."""


class Decision(NamedTuple):
    """Of each unit: ``p``, the ``critical`` value at the level, and whether the resamples ``decided`` on which side p lies.

    ``p <= level`` exactly where the observed statistic exceeds ``critical``.
    """

    p: FloatArray
    critical: FloatArray
    decided: BoolArray


def decide(
    draw: Draw, observed: FloatArray, level: float, looks: int = LOOKS, first: int = RESAMPLES
) -> Decision:
    """Draws until the Monte Carlo interval of every p, over all looks at risk 0.001, excludes ``level``; or gives up.

    p is ``(1 + exceeding) / (1 + resamples)`` (Phipson & Smyth 2010). Stopping as in Gandy (2009), with the risk spent in
    equal parts over the looks.
    """
    units = len(observed)
    p, critical = np.ones(units), np.full(units, np.inf)
    decided = np.zeros(units, dtype=np.bool_)
    open_units = np.arange(units)
    drawn = np.zeros((0, units))
    for look in range(looks):
        if len(open_units) == 0:
            break
        more = first if look == 0 else first * 2 ** (look - 1)
        drawn = np.concatenate([drawn, draw(more, open_units)])
        count = len(drawn)
        exceeding = (drawn >= observed[open_units] - 1e-9).sum(axis=0)
        p[open_units] = (1 + exceeding) / (1 + count)
        place = int(np.floor(level * (count + 1)))
        critical[open_units] = np.partition(drawn, count - place, axis=0)[count - place] if place else np.inf
        clear = _clear_of(level, exceeding, count, RISK / looks)
        decided[open_units] = clear
        drawn, open_units = drawn[:, ~clear], open_units[~clear]
    return Decision(p, critical, decided)


def _clear_of(level: float, exceeding: IntArray, count: int, risk: float) -> BoolArray:
    """Bool (units,): Clopper & Pearson's interval of each p lies wholly on one side."""
    from scipy import stats

    # P(X <= x) at the level and P(X >= x) at the level: the interval excludes it when either is small.
    below = stats.binom.cdf(exceeding, count, level) <= risk / 2
    above = stats.binom.sf(exceeding - 1, count, level) <= risk / 2
    clear: BoolArray = below | above
    return clear
