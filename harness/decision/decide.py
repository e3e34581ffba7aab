"""From a finished sweep to a decision: constraints, verdict on the cells that meet them, costs, choice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from harness.decision.baseline import Baseline, baseline, differences
from harness.decision.latency import query_ms_p95
from harness.errors import HarnessError, SettingError
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.scores import Compared, compared
from harness.verdict import Interval, Verdict
from harness.verdict.choice import ChangeReason, ChosenCell, Misses, choose, misses, worth_changing
from harness.verdict.judge import judge

COSTS = ("context_tokens", "query_ms", "index_mb")
LIMITS = ("context_tokens", "query_ms", "index_mb", "truncated_evidence")


class Selection(NamedTuple):
    """The cells that meet all limits in numbers, the verdict on them, and the one to take."""

    compared: Compared
    verdict: Verdict
    choice: ChosenCell


@dataclass(frozen=True)
class Decision:
    """The decision about a sweep, and what it rests on.

    - ``metric``: what decides; ``post_hoc``: it is not the metric recorded with the sweep.
    - ``k``: the cut-off of each cell.
    - ``costs``: cell to ``{context_tokens, query_ms (p95), index_mb, truncated_evidence}``.
    - ``selection``: among the cells that meet the limits; None when no cell does.
    - ``is_measured``: latencies were measured for this decision.
    - ``to_baseline``: these cells minus the baseline; ``change``: whether the choice should replace it.
    """

    sweep: FinishedSweep
    metric: str
    post_hoc: bool
    k: Mapping[str, int]
    limits: Mapping[str, float]
    costs: Mapping[str, Mapping[str, float]]
    misses: Misses
    selection: Selection | None = None
    is_measured: bool = False
    notes: Sequence[str] = field(default_factory=tuple)
    baseline: Baseline | None = None
    to_baseline: Mapping[str, Interval] = field(default_factory=dict)
    change: ChangeReason | None = None

    def to_json(self) -> dict[str, Any]:
        """The decision in plain values: verdict, choice, costs, constraints and the cells that miss them."""
        found = self.selection
        return {
            "sweep": self.sweep.name,
            "run_id": self.sweep.run_id,
            "metric": self.metric,
            "post_hoc": self.post_hoc,
            **(found.verdict.to_json() if found else {"decided": False, "winner": None}),
            "choice": found.choice.to_json() if found else None,
            "limits": dict(self.limits),
            "misses": {name: dict(over) for name, over in self.misses.of_cell.items()},
            "nearest": self.misses.nearest,
            "costs": {name: dict(values) for name, values in self.costs.items()},
            "baseline": None if self.baseline is None else self.baseline.name,
            "change": self.change,
            "to_baseline": {name: [d.value, d.lo, d.hi] for name, d in self.to_baseline.items()},
            "latency": "measured for this decision" if self.is_measured else "noted during the sweep",
        }


def decide(
    sweep: FinishedSweep,
    metric: str | None = None,
    limits: Mapping[str, float] | None = None,
    order: Sequence[str] = COSTS,
    margin: float | None = None,
    *,
    measure: bool = False,
    against: str | None = None,
) -> Decision:
    """The decision. ``limits``: cost to the most that is allowed; ``order``: costs, the most important first.

    ``margin``: of non-inferiority; None: what so many questions can show. ``measure``: latencies are measured
    again for the cells between which they decide. Where documents or model are missing, those of the sweep
    are used, with a note. ``against``: the baseline, a cell's name or a production file. Raises
    ``SettingError`` for a metric that can't decide between these cells.
    """
    limits = dict(limits or {})
    chosen = metric or sweep.primary
    k = _cut_offs(sweep, limits.get("context_tokens"))
    costs = {cell.name: _costs(cell, k[cell.name]) for cell in sweep.cells}
    decision = Decision(sweep, chosen, chosen != sweep.primary, k, limits, costs, Misses())
    if measure and "query_ms" in limits:
        decision = _measured(decision, _cheap_first(decision))
    found = misses(decision.costs, limits)
    decision = replace(decision, misses=found)
    feasible = [cell for cell in sweep.cells if cell.name not in found.of_cell]
    if not feasible:
        return decision
    numbers = compared(sweep, chosen, feasible, _own_k(decision))
    verdict = judge(numbers.outcomes, margin, sweep.look.level)
    if measure and "query_ms" in order and not decision.is_measured:
        decision = _measured(decision, _between(verdict, decision.costs, order))
    choice = choose(verdict, decision.costs, order, verdict.margin)
    selection = Selection(numbers, verdict, choice)
    decision = replace(decision, selection=selection)
    return decision if against is None else _against(decision, selection, against, order, verdict.margin)


def _against(
    decision: Decision, selection: Selection, word: str, order: Sequence[str], margin: float
) -> Decision:
    """The decision with every cell's difference to the baseline."""
    numbers, choice = selection.compared, selection.choice
    base = baseline(word, decision.sweep, numbers, decision.metric, _own_k(decision), decision.costs)
    to_baseline = differences(base, numbers)
    change: ChangeReason = "keep"
    if choice.name != base.name:
        own = decision.costs[choice.name]
        change = worth_changing(to_baseline[choice.name], own, base.costs, order, margin)
    return replace(decision, baseline=base, to_baseline=to_baseline, change=change)


def checked_order(order: Sequence[str]) -> tuple[str, ...]:
    """The costs to choose by. Raises ``SettingError`` for an unknown one."""
    wrong = [name for name in order if name not in COSTS]
    if wrong or not order:
        raise SettingError(
            f"pick.cost is {', '.join(map(str, order)) or 'empty'}; it must be a list of {', '.join(COSTS)}, "
            "the most important first.",
            key="pick.cost",
        )
    return tuple(order)


def _own_k(decision: Decision) -> Mapping[str, int] | None:
    """The cut-off of each cell where a context budget sets it; None for the one in the metric's name."""
    return None if decision.limits.get("context_tokens") is None else decision.k


def _cut_offs(sweep: FinishedSweep, budget: float | None) -> dict[str, int]:
    """The k of each cell: the sweep's, or the largest measured one within the context budget."""
    if budget is None:
        return {cell.name: sweep.k for cell in sweep.cells}
    return {
        cell.name: max(
            (k for k in cell.content["k"] if cell.metric(f"context_tokens_at_{k}") <= budget),
            default=min(cell.content["k"]),
        )
        for cell in sweep.cells
    }


def _costs(cell: FinishedCell, k: int) -> dict[str, float]:
    return {
        "context_tokens": cell.metric(f"context_tokens_at_{k}"),
        "query_ms": cell.metric("query_ms_p95"),
        "index_mb": cell.metric("index_mb"),
        "truncated_evidence": cell.metric("truncated_evidence"),
    }


def _cheap_first(decision: Decision) -> list[str]:
    """The cells that meet all other limits; only among them does latency decide."""
    others = {key: most for key, most in decision.limits.items() if key != "query_ms"}
    over = misses(decision.costs, others).of_cell
    return [name for name in decision.costs if name not in over]


def _between(verdict: Verdict, costs: Mapping[str, Mapping[str, float]], order: Sequence[str]) -> list[str]:
    """The best observed cell and its possible substitutes, unless an earlier cost decides already."""
    names = [s.name for i, s in enumerate(verdict.standings) if i == 0 or s.non_inferior]
    before = order[: order.index("query_ms")]
    least = {key: np.nanmin([costs[name][key] for name in names]) for key in before}
    near = [name for name in names if all(costs[name][key] <= 1.05 * least[key] for key in before)]
    return near if len(near) > 1 else []


def _measured(decision: Decision, names: Sequence[str]) -> Decision:
    """The decision with the latencies of these cells measured again."""
    costs = {name: dict(values) for name, values in decision.costs.items()}
    try:
        for name, taken in query_ms_p95({n: decision.sweep.cell(n).content["config"] for n in names}).items():
            costs[name]["query_ms"] = taken
    except HarnessError as error:
        reason = re.sub(r"\s+", " ", str(error)).split(". ")[0]
        note = f"Latencies are those noted during the sweep, because they can't be measured here ({reason})."
        return replace(decision, notes=(*decision.notes, note))
    return replace(decision, costs=costs, is_measured=bool(names))
