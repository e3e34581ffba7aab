"""Limits of several means at once, and differences between two cells by group of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.records import Float32Array, FloatArray, IntArray
from harness.verdict import BoolArray, Interval
from harness.verdict.clusters import cluster_sums, effective_clusters, seed_of, sign_flips
from harness.verdict.interval import ANYTHING_FROM
from harness.verdict.sign_tests import step_down

SPARSE = 20
"""Rows that differ from zero on fewer clusters than this are sparse."""
THIRDS = ("low", "middle", "high")


class Several(NamedTuple):
    """Of each row: its mean with simultaneous limits, and whether it is ``shown`` not to be zero."""

    intervals: list[Interval]
    shown: BoolArray


def several(rows: FloatArray, clusters: IntArray, risk: float = 0.05) -> Several:
    """The means of ``rows``, float64 (rows, questions), with simultaneous limits of coverage ``1 - risk``.

    By the largest absolute self-normalised sum ``|Σ D| / √Σ D²`` under joint sign flips of whole clusters,
    limits by its inversion, as in ``best_set``. No limits below ten effective clusters, or for a row that is
    zero throughout.
    """
    sums, sizes = cluster_sums(rows, clusters)
    total, differing = sums.sum(axis=1), (np.abs(sums) > 1e-9).sum(axis=1)
    squares = with_allowance((sums**2).sum(axis=1), differing, sizes)
    means = total / max(sizes.sum(), 1.0)
    alive = np.abs(rows).max(axis=1, initial=0.0) > 1e-12
    if effective_clusters(clusters) < ANYTHING_FROM - 1e-9 or not alive.any():
        return Several(
            [Interval(float(mean), None, None) for mean in means], np.zeros(len(rows), dtype=np.bool_)
        )
    length = np.sqrt((sums[alive] ** 2).sum(axis=1, keepdims=True))
    unit = sums[alive] / np.where(length > 0, length, 1.0)
    rng = np.random.default_rng(seed_of(sums, sizes))
    observed = np.abs(total[alive] / np.sqrt(squares[alive])).max(keepdims=True)
    steps = step_down(partial(_draw, rng, unit), observed, risk)
    critical = max(steps.critical, least_critical(sizes, risk / 2))
    lo, hi = inverted(total, squares, sums @ sizes, sizes, critical)
    fits = alive & np.isfinite(lo) & np.isfinite(hi)
    intervals = [
        Interval(float(mean), float(lo[i]), float(hi[i])) if fits[i] else Interval(float(mean), None, None)
        for i, mean in enumerate(means)
    ]
    return Several(intervals, fits & ((lo > 0) | (hi < 0)) & bool(steps.settled[0]))


def with_allowance(squares: FloatArray, differing: FloatArray | IntArray, sizes: FloatArray) -> FloatArray:
    """Sums of squares with one won and one lost cluster added where fewer than 20 clusters differ.

    After Bonett & Price (2012): three lost questions of 300 are weak evidence about the next 300. The added
    clusters have the usual size; where only sums of zero differ, that of a cluster won or lost as a whole.
    """
    usual = np.where(differing > 0, squares / np.maximum(differing, 1), (sizes**2).mean())
    return np.where(differing < SPARSE, squares + 2 * usual, squares)


def least_critical(sizes: FloatArray, level: float) -> float:
    """The smallest critical value of a self-normalised sum: Student's t for G* - 1, on its scale.

    Where cells differ on few clusters, sign flips give no large sums, and their quantile would be too small
    for a limit.
    """
    from scipy import special

    effective = float(sizes.sum() ** 2 / (sizes**2).sum())
    t = float(special.stdtrit(effective - 1, 1 - level))
    return t * float(np.sqrt(effective / (effective - 1 + t**2)))


def inverted(
    total: FloatArray,
    squares: FloatArray,
    weighted: FloatArray,
    sizes: FloatArray,
    critical: FloatArray | float,
) -> tuple[FloatArray, FloatArray]:
    """The smallest and largest ``δ`` with ``|Σ (D - δ n_c)| <= critical * √Σ (D - δ n_c)²``.

    ``total``: Σ D; ``squares``: Σ D²; ``weighted``: Σ n_c D. A quadratic equation in ``δ`` (Fieller 1954);
    infinite where no ``δ`` is excluded, which takes fewer effective clusters than ``critical²``.
    """
    squared = np.asarray(critical, dtype=np.float64) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        a = sizes.sum() ** 2 - squared * (sizes**2).sum()
        b = sizes.sum() * total - squared * weighted
        root = np.sqrt(np.maximum(b**2 - a * (total**2 - squared * squares), 0.0))
        bounded = np.isfinite(squared) & (a > 0)
        lo, hi = np.where(bounded, (b - root) / a, -np.inf), np.where(bounded, (b + root) / a, np.inf)
    # The mean is between them, whatever the rounding of nearly equal numbers does.
    mean = total / sizes.sum()
    return np.minimum(lo, mean), np.maximum(hi, mean)


def _draw(rng: np.random.Generator, unit: FloatArray, resamples: int) -> Float32Array:
    blocks = [
        np.abs(unit.astype(np.float32) @ flips).max(axis=0)
        for flips in sign_flips(rng, unit.shape[1], resamples)
    ]
    return np.concatenate(blocks)[:, None]


@dataclass(frozen=True)
class GroupDifference:
    """A group of questions, and the mean difference with limits that hold for all groups at once."""

    group: str
    questions: int
    difference: Interval


@dataclass(frozen=True)
class GroupComparison:
    """A comparison of two cells, group by group.

    ``changes_sign``: one cell is shown to be better in one group, and the other cell in another group.
    """

    groups: Sequence[GroupDifference]
    changes_sign: bool


def thirds(overlap: FloatArray) -> list[str]:
    """``low``, ``middle`` or ``high``: the third of each question's lexical overlap, float64 (questions,).

    Equal values share a third, so thirds may differ in size, or be missing; nan is ``unknown``.
    """
    known = np.isfinite(overlap)
    if not known.any():
        return ["unknown"] * len(overlap)
    first, second = np.quantile(overlap[known], [1 / 3, 2 / 3], method="inverted_cdf")
    third = (overlap > first).astype(np.int64) + (overlap > second)
    return [
        THIRDS[i] if is_known else "unknown"
        for i, is_known in zip(third.tolist(), known.tolist(), strict=True)
    ]


def by_group(
    differences: FloatArray, clusters: IntArray, groups: Sequence[str] | npt.NDArray[np.str_]
) -> GroupComparison:
    """The mean difference in every group of questions; thirds of overlap stand from low to high.

    ``differences``: float64 (questions,), one cell minus the other. Each group has limits of risk 5% / groups
    (Bonferroni), none below ten effective clusters. A change of sign takes two groups whose limits lie on
    different sides of zero (Gail & Simon 1985).
    """
    labels = np.asarray(groups, dtype=str)
    found, signs = [], set()
    order = (*THIRDS, "unknown")
    names = sorted(dict.fromkeys(labels.tolist()), key=lambda name: (*order, name).index(name))
    for name in names:
        inside = labels == name
        one = several(differences[None, inside], clusters[inside], risk=0.05 / len(names))
        interval = one.intervals[0]
        found.append(GroupDifference(name, int(inside.sum()), interval))
        if one.shown[0]:
            signs.add(interval.value > 0)
    return GroupComparison(found, len(signs) > 1)
