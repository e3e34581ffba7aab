"""From a finished sweep to a decision: constraints, verdict over what meets them, costs, choice.

``pick`` prints it, the report shows it; neither computes anything of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness.decision.baseline import Baseline, baseline, differences
from harness.decision.latency import percentiles, query_ms
from harness.errors import HarnessError, SettingError
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.scores import Compared, compared
from harness.verdict import Interval, Verdict
from harness.verdict.choice import ChangeReason, Choice, Misses, choose, misses, worth_changing
from harness.verdict.judge import judge

COSTS = ("context_tokens", "query_ms", "index_mb")
LIMITS = ("context_tokens", "query_ms", "index_mb", "truncated_evidence")
# Cells whose latency is measured side by side: so many indexes are held in memory at once.
_MEASURED_AT_ONCE = 8


@dataclass(frozen=True)
class Decision:
    """All that was decided about a sweep, and on what.

    ``metric`` decides; ``post_hoc`` when it is not the one recorded with the sweep. ``k``: the cut-off of each cell. ``costs``:
    cell to ``{context_tokens, query_ms (p95), index_mb, truncated_evidence}``. ``is_measured``: latencies were measured for this decision.
    ``verdict``, ``compared`` and ``choice`` speak of the cells that meet the limits; they are None when none does.

    ``to_baseline``: each of them minus what runs today; ``change`` says whether the choice should take its place.
    """

    sweep: FinishedSweep
    metric: str
    post_hoc: bool
    k: Mapping[str, int]
    limits: Mapping[str, float]
    costs: Mapping[str, Mapping[str, float]]
    misses: Misses
    compared: Compared | None = None
    verdict: Verdict | None = None
    choice: Choice | None = None
    is_measured: bool = False
    notes: Sequence[str] = field(default_factory=tuple)
    baseline: Baseline | None = None
    to_baseline: Mapping[str, Interval] = field(default_factory=dict)
    change: ChangeReason | None = None


def decide(
    sweep: FinishedSweep,
    metric: str | None = None,
    limits: Mapping[str, float] | None = None,
    order: Sequence[str] = COSTS,
    margin: float = 0.03,
    *,
    measure: bool = False,
    against: str | None = None,
) -> Decision:
    """The decision. ``limits``: cost to the most that is allowed; ``order``: costs, the most important first.

    ``measure``: latencies are measured anew for the cells between which they decide; where that can't be done (documents or model are not
    here), those of the sweep are used and a note says so. ``against``: what runs today, a cell's name or a production file. Raises ``SettingError`` for a metric that can't decide between these cells.
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
    own_k = k if limits.get("context_tokens") is not None else None
    numbers = compared(sweep, chosen, feasible, own_k)
    verdict = judge(numbers.outcomes, margin)
    decision = replace(decision, compared=numbers, verdict=verdict)
    if measure and "query_ms" in order and not decision.is_measured:
        decision = _measured(decision, _between(verdict, decision.costs, order))
    decision = replace(decision, choice=choose(verdict, decision.costs, order, margin))
    return decision if against is None else _against(decision, against, order, margin)


def _against(decision: Decision, word: str, order: Sequence[str], margin: float) -> Decision:
    """The decision with every cell's difference to what runs today."""
    numbers, choice = decision.compared, decision.choice
    if numbers is None or choice is None:
        return decision
    base = baseline(word, decision.sweep, numbers, decision.metric, decision.k, decision.costs)
    to_baseline = differences(base, numbers)
    if choice.name == base.name:
        change: ChangeReason = "keep"
    else:
        own = decision.costs[choice.name]
        change = worth_changing(to_baseline[choice.name], own, base.costs, order, margin)
    return replace(decision, baseline=base, to_baseline=to_baseline, change=change)


def checked_order(order: Sequence[str]) -> tuple[str, ...]:
    """The costs to choose by. Raises ``SettingError`` for one that is not known."""
    wrong = [name for name in order if name not in COSTS]
    if wrong or not order:
        raise SettingError(
            f"pick.cost is {', '.join(map(str, order)) or 'empty'}; it must be a list of {', '.join(COSTS)}, the most important first.",
            key="pick.cost",
        )
    return tuple(order)


def _cut_offs(sweep: FinishedSweep, budget: float | None) -> dict[str, int]:
    """Each cell's k: the sweep's, or the largest of the measured ones whose rows fit the context budget (the smallest where none does)."""
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
    """The cells that meet all other limits: only for them does latency decide."""
    others = {key: most for key, most in decision.limits.items() if key != "query_ms"}
    over = misses(decision.costs, others).of_cell
    return [name for name in decision.costs if name not in over]


def _between(verdict: Verdict, costs: Mapping[str, Mapping[str, float]], order: Sequence[str]) -> list[str]:
    """The best observed and those that may be taken instead, unless an earlier cost decides already."""
    names = [s.name for i, s in enumerate(verdict.standings) if i == 0 or s.non_inferior]
    before = order[: order.index("query_ms")]
    least = {key: np.nanmin([costs[name][key] for name in names]) for key in before}
    near = [name for name in names if all(costs[name][key] <= 1.05 * least[key] for key in before)]
    return near if len(near) > 1 else []


def _measured(decision: Decision, names: Sequence[str]) -> Decision:
    """The decision with latencies of these cells measured anew."""
    costs = {name: dict(values) for name, values in decision.costs.items()}
    try:
        for first in range(0, len(names), _MEASURED_AT_ONCE):
            some = names[first : first + _MEASURED_AT_ONCE]
            times = query_ms({name: decision.sweep.cell(name).content["config"] for name in some})
            for name, taken in times.items():
                costs[name]["query_ms"] = percentiles(taken)[1]
    except HarnessError as error:
        reason = re.sub(r"\s+", " ", str(error)).split(". ")[0]
        note = f"Latencies are those noted during the sweep, under whatever load there was: they can't be measured here ({reason})."
        return replace(decision, notes=(*decision.notes, note))
    return replace(decision, costs=costs, is_measured=bool(names))
