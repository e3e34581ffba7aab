"""What the results of a sweep show: cells that are ruled out, not ruled out, or non-inferior.

Numbers in, numbers out: no files, no tracker, no words. The same data give the same verdict, because the seed
of the resampling comes from the data. ``docs/statistics.md`` has the methods, their sources and their
measured error rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.records import FloatArray, IntArray

LEVEL = 0.025
"""Risk of each one-sided comparison of a first verdict: 5% for both directions."""
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Method: TypeAlias = Literal["bootstrap", "cr2", "none"]
Status: TypeAlias = Literal["winner", "not ruled out", "ruled out"]


@dataclass(frozen=True)
class Outcomes:
    """The metric of every question in every cell.

    ``names``: the cells. ``values``: float64 (cells, questions), no nan; higher is better. ``clusters``:
    int64 (questions,), equal for questions about the same text. ``costs``: float64 (cells,), smaller is
    cheaper, or None: cells with equal means are ordered by cost, then by name.
    """

    names: tuple[str, ...]
    values: FloatArray
    clusters: IntArray
    costs: FloatArray | None = None


@dataclass(frozen=True)
class Interval:
    """A mean or a difference with its 95% limits; None where the data give no limits."""

    value: float
    lo: float | None
    hi: float | None


@dataclass(frozen=True)
class Standing:
    """One cell in the verdict.

    ``mean``: its score with its own interval. ``to_best``: its mean minus the best mean of all *other* cells,
    with limits that invert the tests (see ``BestSet``): ``hi < 0`` exactly when the cell is ruled out, ``lo >
    -margin`` exactly when it is ``non_inferior``, shown to lie less than the margin below the truly best
    cell. ``settled``: False where the Monte Carlo error of the p-value still spans the threshold after the
    last look; the cell is then not ruled out. ``same_as``: the cell with equal results on every question, or
    None; both have the same standing.
    """

    name: str
    mean: Interval
    to_best: Interval
    status: Status
    non_inferior: bool
    settled: bool = True
    same_as: str | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer to a sweep, cells best first.

    ``effective_clusters``: G* = n² / Σ n_c². ``winner``: the only cell that is not ruled out, if every status
    is settled and it is better than each of the others. ``required_sample_size``: about how many questions
    would separate the two best cells at the observed difference; None when the second is ruled out, the two
    are equal, or no number can be given. ``minimum_detectable_effect``: the smallest difference between the
    two best that these questions show with 80% power. ``expected``: the cross-fitted score of the selected
    cell on new questions; ``optimism``: the best observed score minus that. ``level``: the risk of each
    one-sided comparison.
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
    level: float = LEVEL

    def to_json(self) -> dict[str, Any]:
        """Plain values for scripts; ``ruled_out`` is a mapping of name to difference to the best."""
        return {
            "decided": self.winner is not None,
            "winner": self.winner,
            "not_ruled_out": [s.name for s in self.standings if s.status == "not ruled out"],
            "unsettled": [s.name for s in self.standings if not s.settled],
            "ruled_out": {s.name: s.to_best.value for s in self.standings if s.status == "ruled out"},
            "same_as": {s.name: s.same_as for s in self.standings if s.same_as is not None},
            "non_inferior": [s.name for s in self.standings if s.non_inferior],
            "questions": self.questions,
            "clusters": self.clusters,
            "effective_clusters": self.effective_clusters,
            "method": self.method,
            "margin": self.margin,
            "level": self.level,
            "required_sample_size": self.required_sample_size,
            "minimum_detectable_effect": self.minimum_detectable_effect,
            "expected": self.expected,
            "optimism": self.optimism,
        }
