"""Milliseconds of cells that answered the same questions in turns, and which of two is lower."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from harness.records import FloatArray
from harness.verdict import Interval
from harness.verdict.clusters import RESAMPLES, seed_of

P95_FROM = 60
"""Questions from which there is a 95th percentile: three of them are slower."""
SMALLEST_SAVING = 0.1
"""The share by which a latency must be lower. Copies of one object in memory may differ by a few percent."""


@dataclass(frozen=True, eq=False)
class Latency:
    """The latency of one cell.

    ``ms``: float64 (questions,), the least of ``passes`` measurements of each question, in the same order for
    all cells. Cells of one ``group`` took turns; others can't be compared.
    """

    ms: FloatArray
    passes: int
    group: int = 0

    @property
    def p50(self) -> float:
        """The median over questions."""
        return float(np.median(self.ms))

    @property
    def p95(self) -> float:
        """The 95th percentile; nan below 60 questions, where it would rest on one or two of them."""
        return float(np.percentile(self.ms, 95)) if len(self.ms) >= P95_FROM else math.nan

    @property
    def high(self) -> float:
        """What a limit applies to: the 95th percentile, or the slowest question where there is none."""
        return float(self.ms.max()) if math.isnan(self.p95) else self.p95

    def limits(self, percent: float) -> Interval:
        """That percentile with 95% limits by a bootstrap over questions."""
        drawn = np.percentile(self.ms[_resampled(self.ms)], percent, axis=1)
        return Interval(float(np.percentile(self.ms, percent)), *np.percentile(drawn, (2.5, 97.5)).tolist())

    def ratio_to(self, other: Latency) -> Interval:
        """How many times as long a question takes as with ``other``: the geometric mean over questions.

        Limits of 95% by a bootstrap of the pairs. No limits where the cells were not measured in turns.
        """
        if self.group != other.group or len(self.ms) != len(other.ms):
            return Interval(self.p50 / other.p50, None, None)
        logs = np.log(np.maximum(self.ms, 1e-6) / np.maximum(other.ms, 1e-6))
        drawn = logs[_resampled(logs)].mean(axis=1)
        return Interval(*np.exp([logs.mean(), *np.percentile(drawn, (2.5, 97.5))]).tolist())

    def is_lower(self, other: Latency) -> bool:
        """Whether it is lower beyond noise and by a tenth: for the typical question, and in ``high``."""
        hi = self.ratio_to(other).hi
        return hi is not None and hi < 1 - SMALLEST_SAVING and self.high < other.high

    def to_json(self) -> dict[str, Any]:
        """Percentiles with their limits, and what they rest on."""
        return {
            "questions": len(self.ms),
            "passes": self.passes,
            "p50": list(astuple(self.limits(50))),
            "p95": None if math.isnan(self.p95) else list(astuple(self.limits(95))),
            "slowest": float(self.ms.max()),
        }


def _resampled(values: FloatArray) -> Any:
    """int64 (resamples, questions): the questions of each resample, the same for the same values."""
    return np.random.default_rng(seed_of(values)).integers(len(values), size=(RESAMPLES, len(values)))
