"""Bars that are made of shares: what became of the questions of each cell, and where its time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.metrics.diagnosis import CAUSES
from harness.results.finished import FinishedSweep
from harness.view.profile import STAGES

# The order in which a bar shows them, best first, and what each means.
MEANING = {
    "found": "all of the evidence was read",
    "partial": "one piece of evidence was read, another was not",
    "split": "the evidence was read in part; the rest lies in another chunk",
    "truncated": "most of what is missing lies beyond the model's window: no vector saw it",
    "ranked_low": "the evidence stands further down the ranking",
    "not_retrieved": "the evidence did not come back",
    "not_in_index": "no chunk holds the evidence",
}


class Part(NamedTuple):
    """``key``: cause or stage. ``share``: of the longest bar, in percent."""

    key: str
    value: float
    share: float


class Bar(NamedTuple):
    """One cell's bar, of parts from left to right."""

    place: int
    name: str
    total: float
    parts: Sequence[Part]


def causes(sweep: FinishedSweep) -> tuple[list[Bar], list[str]]:
    """For each cell its questions by suspected cause; and the causes that occur."""
    order = [*MEANING, *(cause for cause in CAUSES if cause not in MEANING)]
    bars = [_bar(i, cell.name, cell.content["diagnosis"], order, None) for i, cell in enumerate(sweep.cells)]
    found = {part.key for bar in bars for part in bar.parts}
    return bars, [cause for cause in order if cause in found]


def seconds(sweep: FinishedSweep) -> tuple[list[Bar], list[tuple[str, float]]]:
    """For each cell its seconds by stage, on one scale; and the sum of every stage that took time."""
    spent = [
        {stage: float(cell.content["timing"].get(f"{stage}_seconds", 0.0)) for stage in STAGES}
        for cell in sweep.cells
    ]
    longest = max((sum(stages.values()) for stages in spent), default=0.0)
    bars = [
        _bar(i, cell.name, stages, list(STAGES), longest)
        for i, (cell, stages) in enumerate(zip(sweep.cells, spent, strict=True))
    ]
    sums = [(stage, sum(stages[stage] for stages in spent)) for stage in STAGES]
    return bars, [(stage, total) for stage, total in sums if total >= 0.005]


def _bar(
    place: int, name: str, values: Mapping[str, float], order: Sequence[str], whole: float | None
) -> Bar:
    total = sum(values.values())
    scale = (total if whole is None else whole) or 1.0
    parts = [Part(key, values[key], round(100 * values[key] / scale, 3)) for key in order if values.get(key)]
    return Bar(place, name, total, parts)
