"""Whether a configuration has become worse: the same questions before and after a change."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from harness.records import FloatArray, IntArray
from harness.verdict import Interval
from harness.verdict.clusters import cluster_sums, effective_clusters, seed_of
from harness.verdict.interval import clopper_pearson, method_for
from harness.verdict.pairs import compare, limits_alone
from harness.verdict.power import demonstrable_margin, detected_share, readable_margin

Outcome: TypeAlias = Literal["unchanged", "non-inferior", "regression", "undecided"]
RISK = 0.1
"""Of both limits of a change together: each is that of a one-sided test at 5%."""
HARMLESS_DISCORDANCE = 0.04
"""The share of questions that a harmless change is assumed to alter."""


class Change(NamedTuple):
    """The mean difference (after minus before) with its 90% limits, and what they show.

    ``margin``: the one that was tested. ``is_too_small``: no result on so many questions keeps it; where it
    was made for them, fewer than 80% of harmless changes do. ``better``, ``worse``: how many questions
    differ. ``least_loss``: without a gain, no result on so many questions excludes a smaller loss than this,
    not even that no question changed; None where there are no limits. ``required_sample_size``: about how
    many questions would decide if the difference stayed as observed; None when it is decided, or when no
    number would.
    """

    difference: Interval
    outcome: Outcome
    margin: float
    is_too_small: bool
    better: int
    worse: int
    least_loss: float | None
    required_sample_size: int | None


def change(differences: FloatArray, clusters: IntArray, margin: float | None, min_effect: float) -> Change:
    """Judges ``differences``, float64 (questions,), after minus before; ``clusters``, int64 (questions,).

    "non-inferior": the lower limit lies above ``-margin``. "regression": the upper limit lies below 0 and at
    least ``min_effect`` was lost. Else "undecided". ``margin=None``: what so many questions can show
    of a change that alters 4% of them; see ``demonstrable_margin``.
    """
    interval = difference_interval(differences, clusters, RISK)
    effective = effective_clusters(clusters)
    least = math.inf if interval.lo is None else _unseen(effective, RISK)
    smallest = least
    if margin is None:
        smallest = _smallest_margin(len(clusters), effective, least)
        margin = readable_margin(smallest)
    return Change(
        interval,
        _outcome(interval, margin, min_effect),
        margin,
        smallest > margin,
        int((differences > 1e-9).sum()),
        int((differences < -1e-9).sum()),
        None if interval.lo is None else least,
        _required_sample_size(interval, len(differences), margin, min_effect),
    )


def difference_interval(differences: FloatArray, clusters: IntArray, risk: float = 0.05) -> Interval:
    """The mean of paired differences within -1..1 with limits of coverage ``1 - risk``.

    By sign flips of whole clusters, as for two cells of a sweep; see ``limits_alone``. A limit lies at least
    as far from the mean as Clopper & Pearson's upper limit of 0 in G* clusters: what so many clusters did not
    show may still happen that often. No limits with fewer than ten effective clusters.
    """
    mean = float(differences.mean()) if len(differences) else math.nan
    effective = effective_clusters(clusters)
    if method_for(effective) == "none":
        return Interval(mean, None, None)
    sums, sizes = cluster_sums(differences[None, :], clusters)
    pairs = compare(np.concatenate([sums, np.zeros_like(sums)]), sizes)
    rng = np.random.default_rng(seed_of(sums, sizes))
    lo = -float(limits_alone(0, pairs, rng, risk / 2)[0][1])
    hi = float(limits_alone(1, pairs, rng, risk / 2)[0][0])
    unseen = _unseen(effective, risk)
    return Interval(mean, max(min(lo, mean - unseen), -1.0), min(max(hi, mean + unseen), 1.0))


def _smallest_margin(questions: int, effective: float, least: float) -> float:
    """The smallest margin that a harmless change keeps in 80% of cases; limits are ``least`` wide or more."""
    usual = demonstrable_margin(questions, effective, HARMLESS_DISCORDANCE, RISK / 2)
    return max(usual, least + usual * detected_share(effective, RISK / 2))


def _unseen(effective: float, risk: float) -> float:
    """Clopper & Pearson's upper limit of a share that was 0 in so many effective clusters."""
    return clopper_pearson(0.0, effective, risk)[1]


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
    if interval.value < 0 and interval.value <= -min_effect:
        needed.append(((interval.hi - interval.value) / -interval.value) ** 2)
    return math.ceil(questions * max(1.0, min(needed))) if needed else None
