"""What a sweep's results allow one to say: which cells are ruled out, which can't be told apart, which is shown to be no worse.

Promises: numbers in, numbers out (no files, no tracker, no words); the same data gives the same verdict (the resampling seed comes from the data);
nothing is said where the data do not carry it. ``docs/statistics.md`` has the methods, their sources and their measured error rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.records import FloatArray, IntArray

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Method: TypeAlias = Literal["bootstrap", "cr2", "none"]
Status: TypeAlias = Literal["winner", "in play", "ruled out", "not decided"]


@dataclass(frozen=True)
class Outcomes:
    """The metric of every question in every cell.

    ``values``: float64 (cells, questions), no nan. ``clusters``: int64 (questions,), equal for questions about the same text.
    ``names``: of the cells. Higher is better. ``costs``: float64 (cells,), what a cell hands over: of cells with one mean the cheapest stands
    first, then the first by name; None for nothing known.
    """

    names: tuple[str, ...]
    values: FloatArray
    clusters: IntArray
    costs: FloatArray | None = None


@dataclass(frozen=True)
class Interval:
    """95% limits of a mean or a difference; None where the data carry none."""

    value: float
    lo: float | None
    hi: float | None


@dataclass(frozen=True)
class Standing:
    """One cell in the verdict.

    ``mean``: its score with its own interval. ``to_best``: its mean minus the best of all *other* cells' (so for the best observed: minus the
    second), with simultaneous limits that invert the tests: ``hi < 0`` exactly when it is ruled out, ``lo > -margin`` exactly when it is
    ``non_inferior``: shown to lie less than the margin below the truly best. ``lead_share``: share of resamples in which it leads; decides
    nothing. ``same_as``: the cell with equal results on every question that it counts as one with, or None; all else is then that cell's.
    """

    name: str
    mean: Interval
    to_best: Interval
    status: Status
    non_inferior: bool
    lead_share: float
    same_as: str | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer to a sweep, cells best first.

    ``effective_clusters``: G* = n² / Σ n_c². ``winner``: the one cell that is not ruled out, if all is decided and it is better than each of the
    others. ``required_sample_size``: about how many questions would separate the two best at the observed difference, or None when the second
    is ruled out, the two are equal, or nothing can be said. ``minimum_detectable_effect``: the smallest difference between the two best that so many questions
    would show in four sweeps of five. ``expected``: the score to expect of what choosing the best picks (cross-fitted; right on average over
    sweeps, as uncertain as a score), and ``optimism``: how much less that is than the best observed.
    """

    questions: int
    clusters: int
    effective_clusters: float
    method: Method
    margin: float
    winner: str | None
    standings: Sequence[Standing]
    required_sample_size: int | None
    minimum_detectable_effect: float | None
    expected: float | None
    optimism: float | None

    def to_json(self) -> dict[str, Any]:
        """Plain values, so that no script parses English: decided, winner, in_play, ruled_out (name to margin), required_sample_size, ..."""
        of: Mapping[Status, list[Standing]] = {
            status: [s for s in self.standings if s.status == status]
            for status in ("winner", "in play", "ruled out", "not decided")
        }
        return {
            "decided": self.winner is not None,
            "winner": self.winner,
            "in_play": [s.name for s in (*of["in play"], *of["not decided"])],
            "not_decided": [s.name for s in of["not decided"]],
            "ruled_out": {s.name: s.to_best.value for s in of["ruled out"]},
            "non_inferior": [s.name for s in self.standings if s.non_inferior],
            "questions": self.questions,
            "clusters": self.clusters,
            "effective_clusters": self.effective_clusters,
            "method": self.method,
            "margin": self.margin,
            "required_sample_size": self.required_sample_size,
            "minimum_detectable_effect": self.minimum_detectable_effect,
            "expected": self.expected,
            "optimism": self.optimism,
        }
