"""Whether one configuration has become worse: the same questions before and after a change."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from harness.records import FloatArray, IntArray
from harness.verdict import Interval
from harness.verdict.clusters import cluster_sums, effective_clusters
from harness.verdict.interval import clopper_pearson, mean_intervals, method_for

Outcome: TypeAlias = Literal["no worse", "regression", "undecided"]
_FEW = 10
"""With fewer clusters that changed, their spread says too little for a bootstrap."""
_RISK = 0.05


class Change(NamedTuple):
    """The mean difference (after minus before) with 95% limits, what follows from it, and how many questions differ.

    ``questions_needed``: about how many questions would decide if the difference stayed as observed; None when it is decided or when no number would.
    """

    difference: Interval
    outcome: Outcome
    better: int
    worse: int
    questions_needed: int | None


def change(differences: FloatArray, clusters: IntArray, margin: float, min_effect: float) -> Change:
    """Judges ``differences``, float64 (questions,), after minus before; ``clusters``, int64 (questions,).

    "no worse": the lower limit lies above ``-margin`` (equal results on every question are no worse). "regression": the upper limit lies below 0 and at
    least ``min_effect`` was lost. Else "undecided".
    """
    better, worse = int((differences > 1e-9).sum()), int((differences < -1e-9).sum())
    interval = difference_interval(differences, clusters)
    return Change(
        interval,
        _outcome(interval, margin, min_effect),
        better,
        worse,
        _questions_needed(interval, len(differences), margin, min_effect),
    )


def difference_interval(differences: FloatArray, clusters: IntArray, risk: float = _RISK) -> Interval:
    """The mean of paired differences within -1..1 with limits of coverage ``1 - risk``.

    Limits as for any mean; where fewer than ten clusters changed, from the share of clusters that lost (or gained) anything, by Clopper
    & Pearson, times the largest loss (or gain) seen in one cluster. No limits with fewer than ten effective clusters, unless nothing changed at all.
    """
    mean = float(differences.mean()) if len(differences) else math.nan
    if len(differences) and not np.abs(differences).max() > 1e-9:
        return Interval(0.0, 0.0, 0.0)
    if method_for(effective_clusters(clusters)) == "none":
        return Interval(mean, None, None)
    sums, sizes = cluster_sums(differences[None, :], clusters)
    if int((np.abs(sums[0]) > 1e-9).sum()) >= _FEW:
        return mean_intervals(differences[None, :], clusters, risk)[0]
    losses, _ = cluster_sums(np.maximum(-differences, 0.0)[None, :], clusters)
    gains, _ = cluster_sums(np.maximum(differences, 0.0)[None, :], clusters)
    # Each part has half of the risk.
    loss, gain = (_at_most(part[0], sizes, risk) for part in (losses, gains))
    lost, gained = float(losses.sum() / sizes.sum()), float(gains.sum() / sizes.sum())
    return Interval(mean, min(mean, gained - loss), max(mean, gain - lost))


def _at_most(parts: FloatArray, sizes: FloatArray, risk: float) -> float:
    """What the mean loss may be at most."""
    hit = parts > 1e-9
    _, share = clopper_pearson(float(hit.mean()), len(sizes), risk)
    return share * float((parts[hit] / sizes[hit]).max()) if hit.any() else 0.0


def _outcome(interval: Interval, margin: float, min_effect: float) -> Outcome:
    if interval.lo is None or interval.hi is None:
        return "undecided"
    if interval.lo > -margin:
        return "no worse"
    return "regression" if interval.hi < 0 and interval.value <= -min_effect else "undecided"


def _questions_needed(interval: Interval, questions: int, margin: float, min_effect: float) -> int | None:
    """Widths fall with √n: the fewest questions with which either the lower limit clears the margin or the upper one clears 0."""
    if interval.lo is None or interval.hi is None or _outcome(interval, margin, min_effect) != "undecided":
        return None
    needed = []
    if margin + interval.value > 0:
        needed.append(((interval.value - interval.lo) / (margin + interval.value)) ** 2)
    if interval.value <= -min_effect:
        needed.append(((interval.hi - interval.value) / -interval.value) ** 2)
    return math.ceil(questions * max(1.0, min(needed))) if needed else None
