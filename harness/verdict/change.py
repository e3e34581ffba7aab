"""Whether a configuration has become worse: the same questions before and after a change."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.records import FloatArray, IntArray
from harness.verdict import Interval
from harness.verdict.clusters import cluster_sums, effective_clusters
from harness.verdict.interval import clopper_pearson, mean_intervals, method_for

Outcome: TypeAlias = Literal["non-inferior", "regression", "undecided"]
_FEW = 10
"""With fewer changed clusters the bootstrap is not reliable."""
_RISK = 0.05


class Change(NamedTuple):
    """The mean difference (after minus before) with 95% limits, the outcome, and how many questions differ.

    ``required_sample_size``: about how many questions would decide if the difference stayed as observed; None
    when it is decided, or when no number of questions would decide.
    """

    difference: Interval
    outcome: Outcome
    better: int
    worse: int
    required_sample_size: int | None


def change(differences: FloatArray, clusters: IntArray, margin: float, min_effect: float) -> Change:
    """Judges ``differences``, float64 (questions,), after minus before; ``clusters``, int64 (questions,).

    "non-inferior": the lower limit lies above ``-margin``; equal results on every question are non-inferior.
    "regression": the upper limit lies below 0 and at least ``min_effect`` was lost. Else "undecided".
    """
    better, worse = int((differences > 1e-9).sum()), int((differences < -1e-9).sum())
    interval = difference_interval(differences, clusters)
    return Change(
        interval,
        _outcome(interval, margin, min_effect),
        better,
        worse,
        _required_sample_size(interval, len(differences), margin, min_effect),
    )


def difference_interval(differences: FloatArray, clusters: IntArray, risk: float = _RISK) -> Interval:
    """The mean of paired differences within -1..1 with limits of coverage ``1 - risk``.

    Limits as for any mean. Where fewer than ten clusters changed, they come from the shares of clusters that
    lost and that gained, by Clopper & Pearson, times the largest change seen in one cluster (the smallest for
    the inner limits). No limits with fewer than ten effective clusters, unless nothing changed at all.
    """
    mean = float(differences.mean()) if len(differences) else math.nan
    if len(differences) and not np.abs(differences).max() > 1e-9:
        return Interval(0.0, 0.0, 0.0)
    if method_for(effective_clusters(clusters)) == "none":
        return Interval(mean, None, None)
    sums, sizes = cluster_sums(differences[None, :], clusters)
    if int((np.abs(sums[0]) > 1e-9).sum()) >= _FEW:
        return mean_intervals(differences[None, :], clusters, risk, share=False)[0]
    of_cluster = sums[0] / sizes
    losing, gaining = of_cluster < -1e-9, of_cluster > 1e-9
    moved = np.abs(of_cluster[losing | gaining])
    loss, gain = (_mean_share(hit, moved, risk) for hit in (losing, gaining))
    return Interval(mean, min(mean, gain[0] - loss[1]), max(mean, gain[1] - loss[0]))


def _mean_share(hit: npt.NDArray[np.bool_], moved: FloatArray, risk: float) -> tuple[float, float]:
    """Limits of the average loss or gain, if an affected cluster changes by as much as those observed."""
    lo, hi = clopper_pearson(float(hit.mean()), len(hit), risk)
    return lo * float(moved.min()), hi * float(moved.max())


def _outcome(interval: Interval, margin: float, min_effect: float) -> Outcome:
    if interval.lo is None or interval.hi is None:
        return "undecided"
    if interval.lo > -margin:
        return "non-inferior"
    return "regression" if interval.hi < 0 and interval.value <= -min_effect else "undecided"


def _required_sample_size(interval: Interval, questions: int, margin: float, min_effect: float) -> int | None:
    """Widths fall with √n: the fewest questions with which a limit clears the margin or zero."""
    if interval.lo is None or interval.hi is None or _outcome(interval, margin, min_effect) != "undecided":
        return None
    needed = []
    if margin + interval.value > 0:
        needed.append(((interval.value - interval.lo) / (margin + interval.value)) ** 2)
    if interval.value <= -min_effect:
        needed.append(((interval.hi - interval.value) / -interval.value) ** 2)
    return math.ceil(questions * max(1.0, min(needed))) if needed else None
