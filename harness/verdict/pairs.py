"""All pairs of cells: sums over clusters of their differences, and limits of these differences."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from harness.records import Float32Array, FloatArray
from harness.verdict.clusters import RESAMPLES, sign_flips
from harness.verdict.sign_tests import LOOKS, each_alone, exact_p
from harness.verdict.simultaneous import SPARSE, inverted, least_critical, with_allowance


class CellPairs(NamedTuple):
    """All pairs of cells; entry ``[i, j]``, float64, is about the cluster sums ``D`` of cell ``i`` - ``j``.

    ``sums``: float64 (cells, clusters); ``sizes``: float64 (clusters,), the questions in each cluster.
    ``total``: Σ D; ``squares``: Σ D², with an allowance where the pair is sparse; ``weighted``: Σ n_c D;
    ``differing``: how many ``D`` are not zero; ``skewness``: of the ``D``.
    """

    sums: FloatArray
    sizes: FloatArray
    total: FloatArray
    squares: FloatArray
    weighted: FloatArray
    differing: FloatArray
    skewness: FloatArray


def compare(sums: FloatArray, sizes: FloatArray) -> CellPairs:
    """What the tests of all pairs need."""
    total, weighted = sums.sum(axis=1), sums @ sizes
    differing = np.stack([(np.abs(sums - row) > 1e-9).sum(axis=1) for row in sums]).astype(np.float64)
    squares = squared_distances(sums)
    # What is too small for a sum of squares is no difference, on however many clusters.
    differing = np.where(squares > 0, differing, 0.0)
    squares = with_allowance(squares, differing, sizes)
    np.fill_diagonal(squares, 0.0)
    return CellPairs(
        sums,
        sizes,
        total[:, None] - total,
        squares,
        weighted[:, None] - weighted,
        differing,
        _skewness(sums, sizes),
    )


def upper_limits(pairs: CellPairs, critical: FloatArray) -> FloatArray:
    """float64 (cells, cells): upper limits of ``mean_i - mean_j`` by the critical value of cell ``i``.

    Sign flips ignore skewness. Where cell ``i`` has rare large wins, its observed mean is too low more often
    than not: the limit is raised by Johnson's (1978) correction ``s γ (1 + 2 c²) / (6 √G*)``, and never
    lowered.
    """
    sizes = pairs.sizes
    count, effective = sizes.sum(), sizes.sum() ** 2 / (sizes**2).sum()
    limits = inverted(pairs.total, pairs.squares, pairs.weighted, sizes, critical[:, None])[1]
    spread = np.sqrt(np.maximum(pairs.squares - pairs.total**2 / effective, 0.0))
    shift = pairs.skewness * spread / count * (1 + 2 * critical[:, None] ** 2) / (6 * np.sqrt(effective))
    return np.where(np.isfinite(limits), limits + np.maximum(shift, 0.0), limits)


def inverse_root(squares: FloatArray) -> FloatArray:
    """1 / √squares, and 0 where there is no difference."""
    return np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)


def squared_distances(rows: FloatArray) -> FloatArray:
    """float64 (rows, rows): sums of squared differences; exactly 0 between equal rows."""
    gram = rows @ rows.T
    own = np.diag(gram)
    squares = own[:, None] + own - 2 * gram
    return np.where(squares < 1e-10 * max(own.max(initial=0.0), 1.0), 0.0, squares)


def _skewness(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """float64 (cells, cells): skewness of the cluster differences about the pair's mean; 0 without spread."""
    residual = sums - sizes * (sums.sum(axis=1) / sizes.sum())[:, None]
    cubes, mixed = (residual**3).sum(axis=1), residual**2 @ residual.T
    third = cubes[:, None] - cubes - 3 * (mixed - mixed.T)
    skewness: FloatArray = third * inverse_root(squared_distances(residual)) ** 3 * np.sqrt(len(sizes))
    return skewness


def limits_alone(
    top: int,
    pairs: CellPairs,
    rng: np.random.Generator,
    level: float,
    looks: int = LOOKS,
    first: int = RESAMPLES,
) -> tuple[FloatArray, bool]:
    """float64 (cells,): upper limits of each cell's mean minus that of ``top``, each with the risk ``level``.

    By the pair's own sign flips of whole clusters, and never by less than Student's. A pair that differs on
    fewer than 20 clusters must also pass the exact test. The limit of ``top`` itself is infinite. The second
    value: whether the resamples settle that all limits lie below 0, or that one does not.
    """
    rivals = np.delete(np.arange(len(pairs.sums)), top)
    apart = pairs.sums[top] - pairs.sums[rivals]
    unit = (apart * inverse_root((apart**2).sum(axis=1))[:, None]).astype(np.float32)
    observed = pairs.total[top, rivals] * inverse_root(pairs.squares[top, rivals])
    tests = each_alone(partial(_draw, rng, unit), observed, level, looks, first)
    critical = np.full(len(pairs.sums), least_critical(pairs.sizes, level))
    critical[rivals] = np.maximum(critical[rivals], tests.critical)
    limits = upper_limits(pairs, critical)[:, top]
    limits[top] = np.inf
    for rival, differences in zip(rivals, apart, strict=True):
        is_sparse = limits[rival] < 0 and pairs.differing[rival, top] < SPARSE
        if is_sparse and exact_p(differences) > level:
            limits[rival] = 0.0
    return limits, tests.settled


def _draw(rng: np.random.Generator, unit: Float32Array, resamples: int) -> Float32Array:
    """float32 (resamples, rivals): the statistic of each pair under sign flips of whole clusters."""
    return np.concatenate([(unit @ flips).T for flips in sign_flips(rng, unit.shape[1], resamples)])
