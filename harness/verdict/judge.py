"""From the results of all cells to the verdict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.errors import InputError
from harness.records import FloatArray
from harness.verdict import LEVEL, Interval, Outcomes, Standing, Status, Verdict
from harness.verdict.best_set import BestSet, best_set
from harness.verdict.clusters import cluster_sums, effective_clusters
from harness.verdict.interval import mean_intervals, method_for
from harness.verdict.power import (
    FOLDS,
    cross_fitted,
    demonstrable_margin,
    detectable_as_observed,
    readable_margin,
    required_sample_size,
)


def judge(outcomes: Outcomes, margin: float | None = None, level: float = LEVEL) -> Verdict:
    """The verdict on a sweep; the same whatever the order of the cells and of the questions.

    ``margin``: the margin of non-inferiority, in the metric's unit; None: ``demonstrable_margin``, which
    looks at the number of questions and their clusters, never at results. ``level``: the risk of each
    one-sided comparison; see ``level_after_growth``. Raises ``InputError`` for two cells of one name.
    """
    if len(set(outcomes.names)) < len(outcomes.names):
        raise InputError("Two cells have the same name. Give every cell a name of its own.")
    units, clusters = _units(outcomes), outcomes.clusters
    effective = effective_clusters(clusters)
    method = method_for(effective)
    if margin is None:
        margin = readable_margin(demonstrable_margin(len(clusters), effective))
    found = None
    if method != "none" and len(units.names) > 1:
        found = best_set(units.sums, units.sizes, level=level)
    expected = None
    if method != "none" and len(units.sizes) >= FOLDS:
        expected = cross_fitted(units.sums, units.sizes)
    open_question = found is not None and not found.ruled_out[units.ranked[1]]
    return Verdict(
        questions=outcomes.values.shape[1],
        clusters=len(units.sizes),
        effective_clusters=effective,
        method=method,
        margin=margin,
        winner=None if found is None or found.winner is None else units.names[found.winner],
        standings=_standings(outcomes, units, found, margin),
        required_sample_size=required_sample_size(units.lead, clusters, level) if open_question else None,
        minimum_detectable_effect=found and detectable_as_observed(units.lead, clusters, level),
        expected=None if expected is None else expected.score,
        optimism=None if expected is None else expected.optimism,
        level=level,
    )


class _Units(NamedTuple):
    """What is compared: cells with equal results on every question are one unit, named after the cheapest.

    ``members``: the cells of each unit as positions, the cheapest first, then by name. ``ranked``: units, the
    best first; of equal means the cheapest, then by name.
    """

    members: list[list[int]]
    names: list[str]
    values: FloatArray
    sums: FloatArray
    sizes: FloatArray
    means: FloatArray
    ranked: list[int]

    @property
    def lead(self) -> FloatArray:
        """The best minus the second on every question."""
        lead: FloatArray = self.values[self.ranked[0]] - self.values[self.ranked[1]]
        return lead


def _units(outcomes: Outcomes) -> _Units:
    names = outcomes.names
    costs = np.zeros(len(names)) if outcomes.costs is None else outcomes.costs
    equal: dict[bytes, list[int]] = {}
    for cell in sorted(range(len(names)), key=lambda cell: (costs[cell], names[cell])):
        equal.setdefault((outcomes.values[cell] + 0.0).tobytes(), []).append(cell)
    members = list(equal.values())
    values = np.stack([outcomes.values[cells[0]] for cells in members])
    sums, sizes = cluster_sums(values, outcomes.clusters)
    means: FloatArray = sums.sum(axis=1) / sizes.sum()
    ranked = sorted(range(len(members)), key=lambda unit: (-round(float(means[unit]), 12), unit))
    return _Units(members, [names[cells[0]] for cells in members], values, sums, sizes, means, ranked)


def _standings(outcomes: Outcomes, units: _Units, found: BestSet | None, margin: float) -> list[Standing]:
    means = mean_intervals(units.values, outcomes.clusters)
    shown = None if found is None else found.non_inferior(margin)
    standings = []
    for unit in units.ranked:
        for cell in units.members[unit]:
            name = outcomes.names[cell]
            standings.append(
                Standing(
                    name=name,
                    mean=means[unit],
                    to_best=_to_best(units, found, unit),
                    status=_status(found, unit),
                    non_inferior=shown is not None and bool(shown[unit]),
                    settled=found is None or bool(found.settled[unit]),
                    same_as=None if name == units.names[unit] else units.names[unit],
                )
            )
    return standings


def _to_best(units: _Units, found: BestSet | None, unit: int) -> Interval:
    if len(units.names) == 1:
        return Interval(0.0, None, None)
    best, second = units.ranked[:2]
    value = float(units.means[unit] - units.means[second if unit == best else best])
    if found is None or not np.isfinite([found.lo[unit], found.hi[unit]]).all():
        return Interval(value, None, None)
    return Interval(value, float(found.lo[unit]), float(found.hi[unit]))


def _status(found: BestSet | None, unit: int) -> Status:
    if found is not None and found.winner == unit:
        return "winner"
    is_out = found is not None and found.settled[unit] and found.ruled_out[unit]
    return "ruled out" if is_out else "not ruled out"
