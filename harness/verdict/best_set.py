"""Which cells can still be the best: multiple comparisons with the best, over questions in clusters."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from harness.records import FloatArray, IntArray
from harness.verdict import BoolArray
from harness.verdict.exact import exact_p, holm
from harness.verdict.monte_carlo import LOOKS, decide
from harness.verdict.power import LEVEL
from harness.verdict.resampling import RESAMPLES, seed_of, sign_flips
from harness.verdict.simultaneous import SPARSE, inverted, with_allowance


class Pairs(NamedTuple):
    """All pairs of cells; entry ``[i, j]``, float64, is of cell ``i`` minus cell ``j``, over cluster sums ``D`` of that difference.

    ``total``: Σ D; ``squares``: Σ D², with an allowance where the pair is sparse; ``weighted``: Σ n_c D; ``differing``: how many
    ``D`` are not zero.
    """

    total: FloatArray
    squares: FloatArray
    weighted: FloatArray
    differing: FloatArray


class BestSet(NamedTuple):
    """What is known of each cell's distance to the best of the others, in the order given.

    ``lo``, ``hi``: float64 (cells,), simultaneous limits of the cell's mean minus the best of all other cells'. ``ruled_out``:
    bool (cells,), exactly where ``hi < 0``. ``decided``: bool (cells,). ``p``: float64 (cells,), of "this cell is the best".
    ``winner``: the cell that beats each of the others, or None; exactly where ``lo > 0`` and all is decided.
    """

    lo: FloatArray
    hi: FloatArray
    ruled_out: BoolArray
    decided: BoolArray
    p: FloatArray
    winner: int | None


def best_set(
    sums: FloatArray, sizes: FloatArray, level: float = LEVEL, looks: int = LOOKS, first: int = RESAMPLES
) -> BestSet:
    """Hsu's (1984, 1996) comparisons with the best, from cluster sums, float64 (cells, clusters), of two cells or more.

    The statistic of a pair is self-normalised: ``Σ D / √Σ D²``, the paired t to a monotone transformation. Cell ``i`` is ruled
    out when one of its statistics exceeds ``r_i``, the critical value of the largest when whole clusters flip their signs together
    in all cells (Romano & Wolf 2005). So the best cell is ruled out with probability ``level`` at most. Where two cells or more
    are equally good, a sole winner takes that one of any two of them is ruled out: twice the level at most, which is why
    ``level`` is half of 5%.

    ``hi`` is the smallest upper limit of ``mean_i - mean_j`` over the other cells ``j`` by ``r_i``, ``lo`` the smallest lower
    limit by ``r_j``: the same test, inverted. A pair that differs on few clusters counts as told apart only when its exact test
    says so as well. ``looks`` and ``first`` are those of ``decide``.
    """
    pairs = compare(sums, sizes)
    rng = np.random.default_rng(seed_of(sums, sizes))
    observed = (-pairs.total * _inverse_root(pairs.squares)).max(axis=1)
    decision = decide(partial(_draw, rng, sums), observed, level, looks, first)
    critical = decision.critical[:, None]
    upper = inverted(pairs.total, pairs.squares, pairs.weighted, sizes, critical)[1]
    for cell in np.flatnonzero(((upper < 0) & (pairs.differing < SPARSE)).any(axis=1)):
        unproven = _unproven(sums, pairs.differing[cell], int(cell), level)
        upper[cell, unproven] = np.maximum(upper[cell, unproven], 0.0)
    lower = -upper.T
    np.fill_diagonal(upper, np.inf)
    np.fill_diagonal(lower, np.inf)
    lo, hi = lower.min(axis=1), upper.min(axis=1)
    top = int(np.argmax(lo))
    sole = bool(lo[top] > 0 and np.delete(decision.decided, top).all())
    return BestSet(lo, hi, hi < 0, decision.decided, decision.p, top if sole else None)


def compare(sums: FloatArray, sizes: FloatArray) -> Pairs:
    """What the tests of all pairs need."""
    total, weighted = sums.sum(axis=1), sums @ sizes
    differing = np.stack([(np.abs(sums - row) > 1e-9).sum(axis=1) for row in sums]).astype(np.float64)
    squares = with_allowance(_squared_distances(sums), differing, sizes)
    np.fill_diagonal(squares, 0.0)
    return Pairs(total[:, None] - total, squares, weighted[:, None] - weighted, differing)


def _draw(rng: np.random.Generator, sums: FloatArray, resamples: int, units: IntArray) -> FloatArray:
    """float64 (resamples, units): the largest statistic of any cell against each unit, under sign flips.

    The squares of a pair stay what they are when signs flip, so a resample is one product and one maximum.
    """
    scale = _inverse_root(_squared_distances(sums))
    found, first = np.empty((len(units), resamples)), 0
    for flips in sign_flips(rng, sums.shape[1], resamples):
        total = sums @ flips
        last = first + total.shape[1]
        for place, unit in enumerate(units.tolist()):
            above = total - total[unit]
            above *= scale[unit][:, None]
            above.max(axis=0, out=found[place, first:last])
        first = last
    return found.T


def _inverse_root(squares: FloatArray) -> FloatArray:
    """1 / √squares, and 0 where there is no difference."""
    return np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)


def _squared_distances(rows: FloatArray) -> FloatArray:
    """float64 (rows, rows): sums of squared differences; exactly 0 between equal rows."""
    gram = rows @ rows.T
    own = np.diag(gram)
    squares = own[:, None] + own - 2 * gram
    return np.where(squares < 1e-10 * max(own.max(initial=0.0), 1.0), 0.0, squares)


def _unproven(sums: FloatArray, differing: FloatArray, cell: int, level: float) -> IntArray:
    """Positions of the sparse pairs of one cell whose exact test, after Holm over these pairs, does not put it lower."""
    sparse = np.flatnonzero(differing < SPARSE)
    sparse = sparse[sparse != cell]
    p = holm(np.array([exact_p(sums[other] - sums[cell]) for other in sparse]))
    unproven: IntArray = sparse[p > level]
    return unproven
