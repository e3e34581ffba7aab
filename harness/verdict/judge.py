"""From the results of all cells to the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.errors import InputError, SettingError
from harness.records import FloatArray, IntArray
from harness.verdict import Interval, Outcomes, Standing, Status, Verdict
from harness.verdict.best_set import BestSet, best_set
from harness.verdict.clusters import cluster_sums, effective_clusters
from harness.verdict.interval import mean_intervals, method_for
from harness.verdict.non_inferior import non_inferior
from harness.verdict.optimism import FOLDS, cross_fitted, lead_shares
from harness.verdict.power import detectable_as_observed, required_sample_size

MARGIN = 0.03


def judge(outcomes: Outcomes, margin: float = MARGIN) -> Verdict:
    """The verdict on a sweep; the same whatever the order of the cells and of the questions.

    ``margin``: how much worse, in the metric's unit, still counts as no worse. Raises ``InputError`` for results that are missing,
    not finite or don't fit together, and ``SettingError`` for a margin that is not positive.
    """
    _check(outcomes, margin)
    units = _Units(outcomes)
    method = method_for(units.effective)
    found = best_set(units.sums, units.sizes) if method != "none" and len(units.names) > 1 else None
    expected = None
    if method != "none" and len(units.sizes) >= FOLDS:
        expected = cross_fitted(units.sums, units.sizes)
    open_question = found is not None and not found.ruled_out[units.ranked[1]]
    return Verdict(
        questions=outcomes.values.shape[1],
        clusters=len(units.sizes),
        effective_clusters=units.effective,
        method=method,
        margin=margin,
        winner=None if found is None or found.winner is None else units.names[found.winner],
        standings=_standings(units, found, margin),
        required_sample_size=required_sample_size(*units.apart) if open_question else None,
        minimum_detectable_effect=None if found is None else detectable_as_observed(*units.apart),
        expected=None if expected is None else expected.score,
        optimism=None if expected is None else expected.optimism,
    )


@dataclass(frozen=True)
class _Units:
    """What is compared: cells with equal results on every question are one unit, named after the cheapest of them."""

    outcomes: Outcomes

    @cached_property
    def members(self) -> list[list[int]]:
        """The cells of each unit, as positions; cheapest first, then by name."""
        found: dict[bytes, list[int]] = {}
        names = self.outcomes.names
        costs = np.zeros(len(names)) if self.outcomes.costs is None else self.outcomes.costs
        for cell in sorted(range(len(names)), key=lambda cell: (costs[cell], names[cell])):
            found.setdefault((self.outcomes.values[cell] + 0.0).tobytes(), []).append(cell)
        return list(found.values())

    @cached_property
    def names(self) -> list[str]:
        return [self.outcomes.names[cells[0]] for cells in self.members]

    @cached_property
    def values(self) -> FloatArray:
        return np.stack([self.outcomes.values[cells[0]] for cells in self.members])

    @cached_property
    def effective(self) -> float:
        return effective_clusters(self.outcomes.clusters)

    @cached_property
    def _summed(self) -> tuple[FloatArray, FloatArray]:
        return cluster_sums(self.values, self.outcomes.clusters)

    @property
    def sums(self) -> FloatArray:
        return self._summed[0]

    @property
    def sizes(self) -> FloatArray:
        return self._summed[1]

    @cached_property
    def means(self) -> FloatArray:
        means: FloatArray = self.sums.sum(axis=1) / self.sizes.sum()
        return means

    @cached_property
    def ranked(self) -> list[int]:
        """Best first; of equal means the cheapest, then by name."""
        return sorted(range(len(self.names)), key=lambda unit: (-round(float(self.means[unit]), 12), unit))

    @property
    def apart(self) -> tuple[FloatArray, IntArray, int]:
        """The best minus the second on every question, the clusters, and how many units there are."""
        best, second = self.ranked[:2]
        return self.values[best] - self.values[second], self.outcomes.clusters, len(self.names)


def _standings(units: _Units, found: BestSet | None, margin: float) -> list[Standing]:
    means = mean_intervals(units.values, units.outcomes.clusters)
    leads = lead_shares(units.sums, units.sizes)
    shown = None if found is None else non_inferior(found, margin)
    standings = []
    for unit in units.ranked:
        for cell in units.members[unit]:
            name = units.outcomes.names[cell]
            standings.append(
                Standing(
                    name=name,
                    mean=means[unit],
                    to_best=_to_best(units, found, unit),
                    status=_status(found, unit),
                    non_inferior=shown is not None and bool(shown[unit]),
                    lead_share=float(leads[unit]),
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
    if found is None:
        return "in play"
    if found.winner == unit:
        return "winner"
    if not found.decided[unit]:
        return "not decided"
    return "ruled out" if found.ruled_out[unit] else "in play"


def _check(outcomes: Outcomes, margin: float) -> None:
    values, names = outcomes.values, outcomes.names
    if not margin > 0:
        raise SettingError(
            f"pick.margin is {margin}; it must be above 0: how much worse still counts as no worse.",
            key="pick.margin",
        )
    if values.ndim != 2 or values.shape != (len(names), len(outcomes.clusters)):
        raise InputError(
            f"The results have the shape {values.shape}, for {len(names)} cells and {len(outcomes.clusters)} questions"
            " with a cluster. Give one row a cell and one column a question."
        )
    if len(set(names)) < len(names):
        raise InputError("Two cells have the same name. Give every cell a name of its own.")
    if not values.size:
        raise InputError(
            f"There are {len(names)} cells and {len(outcomes.clusters)} questions that all of them were scored on: nothing can be"
            " compared. Score the cells on the same questions."
        )
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        raise InputError(
            f"Cell {names[wrong[0][0]]!r} has no finite result for question {wrong[0][1] + 1} of {values.shape[1]} ({len(wrong)} such"
            " results in all). Compare cells only on questions that all of them were scored on."
        )
