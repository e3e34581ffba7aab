"""Which cells can still be the best: multiple comparisons with the best, over questions in clusters."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from harness.records import Float32Array, FloatArray
from harness.verdict import BoolArray
from harness.verdict.clusters import LOOKS, RESAMPLES, exact_p, holm, seed_of, sign_flips, step_down
from harness.verdict.power import LEVEL
from harness.verdict.simultaneous import SPARSE, inverted, least_critical, with_allowance


class CellPairs(NamedTuple):
    """All pairs of cells; entry ``[i, j]``, float64, is about the cluster sums ``D`` of cell ``i`` - ``j``.

    ``total``: Σ D; ``squares``: Σ D², with an allowance where the pair is sparse; ``weighted``: Σ n_c D;
    ``differing``: how many ``D`` are not zero; ``skewness``: of the ``D``.
    """

    total: FloatArray
    squares: FloatArray
    weighted: FloatArray
    differing: FloatArray
    skewness: FloatArray


class BestSet(NamedTuple):
    """Each cell's difference to the best of the others, in the order given.

    ``lo``, ``hi``: float64 (cells,), simultaneous limits of the cell's mean minus the best mean of all other
    cells. ``ruled_out``: bool (cells,), exactly where ``hi < 0``. ``settled``: bool (cells,), whether the
    resamples settle the p-value. ``p``: float64 (cells,), adjusted, of "this cell is among the best".
    ``winner``: the only cell that is not ruled out, if it is also shown to be better than each of the others,
    or None.
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


def best_set(sums: FloatArray, sizes: FloatArray, looks: int = LOOKS, first: int = RESAMPLES) -> BestSet:
    """Comparisons with the best (Hsu 1984, 1996), from cluster sums, float64 (cells, clusters).

    There must be two cells or more. The statistic of a pair is self-normalised: ``Σ D / √Σ D²``, a monotone
    transformation of the paired t. The statistic of a cell is that of its strongest rival. "This cell is
    among the best" is rejected step by step, the worst cell first, by the joint distribution when whole
    clusters flip their signs together in all cells (Romano & Wolf 2005). So *any* truly best cell is ruled
    out with probability 5% at most, also where several are equally good. A sole winner is declared wrongly
    only when a truly best cell was ruled out: 5% again.

    ``hi`` is the smallest upper limit of ``mean_i - mean_j`` over the other cells ``j`` by the last critical
    value: the same test, inverted, but never by less than Student's. ``lo`` is the smallest lower limit, each
    by Dunnett's many-to-one comparison with ``j`` at 2.5%; see ``BestSet.non_inferior``. ``looks`` and
    ``first``: see ``step_down``.
    """
    pairs = compare(sums, sizes)
    rng = np.random.default_rng(seed_of(sums, sizes))
    observed = (-pairs.total * inverse_root(pairs.squares)).max(axis=1)
    steps = step_down(partial(_draw, rng, sums), observed, 2 * LEVEL, looks, first)
    least = least_critical(sizes, LEVEL)
    upper = _proven(sums, pairs, _upper_limits(pairs, sizes, np.full(len(sums), max(steps.critical, least))))
    lower = -_proven(sums, pairs, _upper_limits(pairs, sizes, np.maximum(steps.alone, least))).T
    np.fill_diagonal(upper, np.inf)
    np.fill_diagonal(lower, np.inf)
    lo, hi = lower.min(axis=1), upper.min(axis=1)
    top, ruled_out = int(np.argmax(lo)), hi < 0
    sole = lo[top] > 0 and not ruled_out[top] and ruled_out.sum() == len(sums) - 1 and steps.settled.all()
    return BestSet(lo, hi, ruled_out, steps.settled, steps.p, top if sole else None)


def compare(sums: FloatArray, sizes: FloatArray) -> CellPairs:
    """What the tests of all pairs need."""
    total, weighted = sums.sum(axis=1), sums @ sizes
    differing = np.stack([(np.abs(sums - row) > 1e-9).sum(axis=1) for row in sums]).astype(np.float64)
    squares = with_allowance(_squared_distances(sums), differing, sizes)
    np.fill_diagonal(squares, 0.0)
    return CellPairs(
        total[:, None] - total, squares, weighted[:, None] - weighted, differing, _skewness(sums, sizes)
    )


def _draw(rng: np.random.Generator, sums: FloatArray, resamples: int) -> Float32Array:
    """float32 (resamples, cells): the statistic of each cell's strongest rival, under sign flips.

    The squares of a pair stay what they are when signs flip, so a resample is one product and one maximum.
    """
    # Single precision halves the time, which memory limits. The mean of all cells is subtracted first, so
    # that the rounding error is one of differences and lies below the tolerance of ties.
    apart = (sums - sums.mean(axis=0)).astype(np.float32)
    scale = inverse_root(_squared_distances(sums)).astype(np.float32)
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


def _upper_limits(pairs: CellPairs, sizes: FloatArray, critical: FloatArray) -> FloatArray:
    """float64 (cells, cells): upper limits of ``mean_i - mean_j`` by the critical value of cell ``i``.

    Sign flips ignore skewness. Where cell ``i`` has rare large wins, its observed mean is too low more often
    than not: the limit is raised by Johnson's (1978) correction ``s γ (1 + 2 c²) / (6 √G*)``, and never
    lowered.
    """
    count, effective = sizes.sum(), sizes.sum() ** 2 / (sizes**2).sum()
    limits = inverted(pairs.total, pairs.squares, pairs.weighted, sizes, critical[:, None])[1]
    spread = np.sqrt(np.maximum(pairs.squares - pairs.total**2 / effective, 0.0))
    shift = pairs.skewness * spread / count * (1 + 2 * critical[:, None] ** 2) / (6 * np.sqrt(effective))
    return np.where(np.isfinite(limits), limits + np.maximum(shift, 0.0), limits)


def _proven(sums: FloatArray, pairs: CellPairs, upper: FloatArray) -> FloatArray:
    """Upper limits, raised to 0 for sparse pairs whose exact test, after Holm, shows no difference."""
    upper = upper.copy()
    np.fill_diagonal(upper, 0.0)
    for cell in np.flatnonzero(((upper < 0) & (pairs.differing < SPARSE)).any(axis=1)):
        sparse = np.flatnonzero(pairs.differing[cell] < SPARSE)
        sparse = sparse[sparse != cell]
        p = holm(np.array([exact_p(sums[other] - sums[cell]) for other in sparse]))
        unproven = sparse[p > LEVEL]
        upper[cell, unproven] = np.maximum(upper[cell, unproven], 0.0)
    return upper


def _skewness(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """float64 (cells, cells): skewness of the cluster differences about the pair's mean; 0 without spread."""
    residual = sums - sizes * (sums.sum(axis=1) / sizes.sum())[:, None]
    cubes, mixed = (residual**3).sum(axis=1), residual**2 @ residual.T
    third = cubes[:, None] - cubes - 3 * (mixed - mixed.T)
    skewness: FloatArray = third * inverse_root(_squared_distances(residual)) ** 3 * np.sqrt(len(sizes))
    return skewness


def inverse_root(squares: FloatArray) -> FloatArray:
    """1 / √squares, and 0 where there is no difference."""
    return np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)


def _squared_distances(rows: FloatArray) -> FloatArray:
    """float64 (rows, rows): sums of squared differences; exactly 0 between equal rows."""
    gram = rows @ rows.T
    own = np.diag(gram)
    squares = own[:, None] + own - 2 * gram
    return np.where(squares < 1e-10 * max(own.max(initial=0.0), 1.0), 0.0, squares)
