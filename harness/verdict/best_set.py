"""Which cells can still be the best: multiple comparisons with the best, over questions in clusters."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from harness.records import Float32Array, FloatArray
from harness.verdict import LEVEL, BoolArray
from harness.verdict.clusters import RESAMPLES, seed_of, sign_flips
from harness.verdict.pairs import (
    CellPairs,
    compare,
    inverse_root,
    limits_alone,
    squared_distances,
    upper_limits,
)
from harness.verdict.sign_tests import LOOKS, exact_p, holm, step_down
from harness.verdict.simultaneous import SPARSE, least_critical


class BestSet(NamedTuple):
    """Each cell's difference to the best of the others, in the order given.

    ``lo``, ``hi``: float64 (cells,), limits of the cell's mean minus the best mean of all other cells; all
    ``lo`` hold together, and so do all ``hi``. ``ruled_out``: bool (cells,), exactly where ``hi < 0``.
    ``settled``: bool (cells,), whether the resamples settle the p-value. ``p``: float64 (cells,), adjusted,
    of "this cell is among the best". ``winner``: the cell that is shown to be better than each of the others,
    or None. All others are then ruled out.
    """

    lo: FloatArray
    hi: FloatArray
    ruled_out: BoolArray
    settled: BoolArray
    p: FloatArray
    winner: int | None

    def non_inferior(self, margin: float) -> BoolArray:
        """Bool (cells,): the cell's mean lies less than ``margin`` below that of the truly best cell.

        Which cell is the best is not known: the best observed was selected, and looks better than it is. So a
        cell must be shown to lie less than the margin below *every* other cell (Berger 1982, an
        intersection-union test), each by the critical value of Dunnett's many-to-one comparisons with that
        other cell at 2.5%. One of these others is the truly best, and its comparisons hold for all cells at
        once: all claims hold together with probability 97.5%.
        """
        shown: BoolArray = self.lo > -margin
        return shown


def best_set(
    sums: FloatArray,
    sizes: FloatArray,
    looks: int = LOOKS,
    first: int = RESAMPLES,
    level: float = LEVEL,
) -> BestSet:
    """Comparisons with the best (Hsu 1984, 1996), from cluster sums, float64 (cells, clusters).

    There must be two cells or more. The statistic of a pair is self-normalised: ``Σ D / √Σ D²``, a monotone
    transformation of the paired t. The statistic of a cell is that of its strongest rival. "This cell is
    among the best" is rejected step by step, the worst cell first, by the joint distribution when whole
    clusters flip their signs together in all cells (Romano & Wolf 2005). So *any* truly best cell is ruled
    out with probability 5% at most, also where several are equally good. The best observed cell is the winner
    if it beats every other cell in a comparison of its own at 2.5%: a wrong winner beats a truly best cell,
    so no further correction is needed (Berger 1982).

    ``hi`` is the smallest upper limit of ``mean_i - mean_j`` over the other cells ``j`` by the last critical
    value: the same test, inverted, but never by less than Student's. ``lo`` is the smallest lower limit, each
    by Dunnett's many-to-one comparison with ``j`` at 2.5%; see ``BestSet.non_inferior``. ``looks`` and
    ``first``: see ``step_down``. ``level`` stands for 2.5%; "one of the best" is tested at twice that.
    """
    pairs = compare(sums, sizes)
    rng = np.random.default_rng(seed_of(sums, sizes))
    observed = (-pairs.total * inverse_root(pairs.squares)).max(axis=1)
    steps = step_down(partial(_draw, rng, sums), observed, 2 * level, looks, first)
    least = least_critical(sizes, level)
    upper = _proven(pairs, upper_limits(pairs, np.full(len(sums), max(steps.critical, least))), level)
    lower = -_proven(pairs, upper_limits(pairs, np.maximum(steps.alone, least)), level).T
    np.fill_diagonal(upper, np.inf)
    np.fill_diagonal(lower, np.inf)
    lo, hi, settled = lower.min(axis=1), upper.min(axis=1), steps.settled
    top = int(np.argmax(pairs.total[:, 0]))
    behind, is_settled = limits_alone(top, pairs, rng, level, looks, first)
    lead = -np.delete(behind, top).max()
    # A limit above 0 says that the cell wins, and then the comparisons of its own decide.
    lo[top] = max(lo[top], lead) if lead > 0 else min(lo[top], 0.0)
    wins = bool(lead > 0 and is_settled)
    if wins:
        hi, settled = np.minimum(hi, behind), np.ones_like(settled)
    return BestSet(lo, hi, hi < 0, settled, steps.p, top if wins else None)


def _draw(rng: np.random.Generator, sums: FloatArray, resamples: int) -> Float32Array:
    """float32 (resamples, cells): the statistic of each cell's strongest rival, under sign flips.

    The squares of a pair stay what they are when signs flip, so a resample is one product and one maximum.
    """
    # Single precision halves the time, which memory limits. The mean of all cells is subtracted first, so
    # that the rounding error is one of differences and lies below the tolerance of ties.
    apart = (sums - sums.mean(axis=0)).astype(np.float32)
    scale = inverse_root(squared_distances(sums)).astype(np.float32)
    found, first = np.empty((len(sums), resamples), dtype=np.float32), 0
    for flips in sign_flips(rng, sums.shape[1], resamples):
        total = apart @ flips
        last = first + total.shape[1]
        above = np.empty_like(total)
        for cell in range(len(sums)):
            np.subtract(total, total[cell], out=above)
            above *= scale[cell][:, None]
            above.max(axis=0, out=found[cell, first:last])
        first = last
    return found.T


def _proven(pairs: CellPairs, upper: FloatArray, level: float) -> FloatArray:
    """Upper limits, raised to 0 for sparse pairs whose exact test, after Holm, shows no difference."""
    upper = upper.copy()
    np.fill_diagonal(upper, 0.0)
    for cell in np.flatnonzero(((upper < 0) & (pairs.differing < SPARSE)).any(axis=1)):
        sparse = np.flatnonzero(pairs.differing[cell] < SPARSE)
        sparse = sparse[sparse != cell]
        p = holm(np.array([exact_p(pairs.sums[other] - pairs.sums[cell]) for other in sparse]))
        unproven = sparse[p > level]
        upper[cell, unproven] = np.maximum(upper[cell, unproven], 0.0)
    return upper
