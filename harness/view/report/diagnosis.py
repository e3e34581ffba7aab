"""What became of each cell's questions, what might help the missed ones, and where each cell's time went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.decision.findings import Helped
from harness.metrics.diagnosis import CAUSES
from harness.results.finished import FinishedSweep
from harness.view.report.effects import plain
from harness.view.terminal import STAGES, stage_seconds

# The order in which a bar shows them, best first, and what each means.
MEANING = {
    "found": "the returned context holds all of the evidence",
    "partial": "it holds one piece of evidence and lacks another",
    "split": "it holds a part of the evidence; the rest lies in another chunk",
    "truncated": "most of what is missing was truncated: beyond the model's maximum sequence length",
    "ranked_low": "the evidence stands further down the ranking",
    "not_retrieved": "the evidence did not come back",
    "not_in_index": "no chunk holds the evidence",
}
# A suspicion, as the cause is one.
_USUAL = {
    "partial": "more context (k), or a reranker",
    "split": "another chunker, bigger chunks or an overlap",
    "truncated": "smaller chunks, or a model with a longer maximum sequence length",
    "ranked_low": "a reranker, hybrid retrieval or more context (k)",
    "not_retrieved": "another model, or hybrid retrieval",
    "not_in_index": "another chunker; check whether the document is complete",
}


class BarPart(NamedTuple):
    """``key``: cause or stage. ``share``: of the longest bar, in percent."""

    key: str
    value: float
    share: float


class StackedBar(NamedTuple):
    """One cell's bar, of parts from left to right."""

    place: int
    name: str
    total: float
    parts: Sequence[BarPart]


class Remedy(NamedTuple):
    """One cause with its number of questions and what was observed, a sentence each."""

    cause: str
    questions: int
    usual: str
    observed: Sequence[str]


def causes(sweep: FinishedSweep) -> tuple[list[StackedBar], list[str]]:
    """For each cell its questions by suspected cause; and the causes that occur."""
    order = [*MEANING, *(cause for cause in CAUSES if cause not in MEANING)]
    bars = [_bar(i, cell.name, cell.content["diagnosis"], order, None) for i, cell in enumerate(sweep.cells)]
    found = {part.key for bar in bars for part in bar.parts}
    return bars, [cause for cause in order if cause in found]


def seconds(sweep: FinishedSweep) -> tuple[list[StackedBar], list[tuple[str, float]]]:
    """For each cell its seconds by stage, on one scale; and the sum of every stage that took time."""
    spent = [stage_seconds(cell.content) for cell in sweep.cells]
    longest = max((sum(stages.values()) for stages in spent), default=0.0)
    bars = [
        _bar(i, cell.name, stages, STAGES, longest)
        for i, (cell, stages) in enumerate(zip(sweep.cells, spent, strict=True))
    ]
    sums = [(stage, sum(stages[stage] for stages in spent)) for stage in STAGES]
    return bars, [(stage, total) for stage, total in sums if total >= 0.005]


def remedies(sweep: FinishedSweep, helped: Mapping[str, Mapping[str, Sequence[Helped]]]) -> list[Remedy]:
    """The causes of the best cell's missed questions; ``helped``: cell to cause to what was observed."""
    if not sweep.cells:
        return []
    best = sweep.cells[0]
    missed, of_cause = best.content["diagnosis"], helped.get(best.name, {})
    return [
        Remedy(cause, missed[cause], usual, [_observed(one) for one in of_cause.get(cause, ()) if one.found])
        for cause, usual in _USUAL.items()
        if missed.get(cause)
    ]


def _observed(one: Helped) -> str:
    found = f"{plain(one.setting)} {one.value} finds {one.found} of {one.of}"
    return f"{found}, and loses {one.lost} of {one.had} others"


def _bar(
    place: int, name: str, values: Mapping[str, float], order: Sequence[str], whole: float | None
) -> StackedBar:
    total = sum(values.values())
    scale = (total if whole is None else whole) or 1.0
    parts = [
        BarPart(key, values[key], round(100 * values[key] / scale, 3)) for key in order if values.get(key)
    ]
    return StackedBar(place, name, total, parts)
