"""Which configuration to take: the best observed, or a cheaper one that is shown to be non-inferior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness.verdict import Interval, Standing, Verdict

Reason: TypeAlias = Literal["winner", "best observed", "cheaper", "equal", "only one"]
ChangeReason: TypeAlias = Literal["better", "cheaper", "keep"]
# Costs that differ by less than this share count as equal; latency is not measured more precisely.
EQUAL = {"query_ms": 0.2, "coarse_ms": 0.9, "context_tokens": 0.02, "index_mb": 0.02}


@dataclass(frozen=True)
class ChosenCell:
    """The cell that is taken, and why.

    ``best``: the best observed cell. ``saved``: the first cost in which ``name`` is cheaper than ``best``, or
    None. ``cheaper_not_ruled_out``: the cheapest cell that is not ruled out and not shown to be non-inferior.
    ``required_sample_size``: about how many questions would show that it is non-inferior, or None.
    """

    name: str
    reason: Reason
    best: str
    saved: str | None = None
    cheaper_not_ruled_out: str | None = None
    required_sample_size: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The choice in plain values."""
        return {
            "name": self.name,
            "chosen_on": self.reason,
            "best_observed": self.best,
            "saves": self.saved if self.reason == "cheaper" else None,
            "required_sample_size_for_cheaper": self.required_sample_size,
        }


@dataclass(frozen=True)
class Misses:
    """Cells that miss a constraint, with the values; ``nearest`` comes closest to meeting all."""

    of_cell: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    nearest: str | None = None


def misses(costs: Mapping[str, Mapping[str, float]], limits: Mapping[str, float]) -> Misses:
    """The cells that exceed a limit, with their values. An unknown cost (nan) meets no limit."""
    of_cell = {
        name: over
        for name, values in costs.items()
        if (over := {key: values[key] for key, most in limits.items() if not values[key] <= most})
    }
    if not of_cell:
        return Misses()

    def excess(name: str) -> float:
        ratios = [costs[name][key] / most if most > 0 else math.inf for key, most in limits.items()]
        return max(math.inf if math.isnan(ratio) else ratio for ratio in ratios)

    return Misses(of_cell, min(of_cell, key=excess))


def choose(
    verdict: Verdict, costs: Mapping[str, Mapping[str, float]], order: Sequence[str], margin: float
) -> ChosenCell:
    """The choice among the cells of ``verdict``; ``order`` names the costs, the most important first.

    A cell is taken instead of the best observed only if it is cheaper and shown to be ``non_inferior``, or
    has the same results. Costs within the shares of ``EQUAL`` are equal; then the next cost decides. Between
    cells with the same results, fewer ``stages`` (where ``costs`` has them) count before any latency, and
    latencies count only where one is over ten times the other, each taken as 10 ms or more.
    """
    best = verdict.standings[0]
    if len(verdict.standings) == 1:
        return ChosenCell(best.name, "only one", best.name)
    equal = [s for s in verdict.standings if best.name in {s.name, s.same_as}]
    first = _cheapest(equal, {s.name: _coarse(costs[s.name]) for s in equal}, _staged(order)).name
    if len(equal) == len(verdict.standings):
        return ChosenCell(first, "equal", best.name)
    others = [s for s in verdict.standings if s not in equal]
    cheaper = {
        standing.name: saved
        for standing in others
        if (saved := _saved(costs[standing.name], costs[first], order)) is not None
    }
    proven = [s for s in others if s.non_inferior and s.name in cheaper]
    if proven:
        taken = _cheapest(proven, costs, order)
        return ChosenCell(taken.name, "cheaper", first, cheaper[taken.name])
    open_ = [s for s in others if s.name in cheaper and s.status != "ruled out"]
    reason: Reason = "winner" if verdict.winner == best.name else "best observed"
    if not open_:
        return ChosenCell(first, reason, first)
    candidate = _cheapest(open_, costs, order)
    needed = _required_sample_size(candidate, verdict.questions, margin)
    return ChosenCell(
        first, reason, first, cheaper[candidate.name], candidate.name, required_sample_size=needed
    )


def _coarse(costs: Mapping[str, float]) -> dict[str, float]:
    # Latencies of one cell were seen to differ from 0.6 to 9 ms.
    return {**costs, "coarse_ms": max(10.0, costs.get("query_ms", math.nan))}


def _staged(order: Sequence[str]) -> tuple[str, ...]:
    at = order.index("query_ms") if "query_ms" in order else len(order)
    return (*order[:at], "stages", "coarse_ms", *order[at + 1 :])


def worth_changing(
    to_baseline: Interval | None,
    costs: Mapping[str, float],
    baseline_costs: Mapping[str, float],
    order: Sequence[str],
    margin: float,
) -> ChangeReason:
    """Whether the chosen cell should replace the baseline; ``to_baseline`` is None for the same results.

    "better": it is shown to be better. "cheaper": it is cheaper, and shown to lose less than the margin. Else
    "keep".
    """
    if to_baseline is None:
        saved = _saved(_coarse(costs), _coarse(baseline_costs), _staged(order))
        return "keep" if saved is None else "cheaper"
    if to_baseline.lo is not None and to_baseline.lo > 0:
        return "better"
    is_cheaper = _saved(costs, baseline_costs, order) is not None
    if is_cheaper and to_baseline.lo is not None and to_baseline.lo > -margin:
        return "cheaper"
    return "keep"


def _saved(one: Mapping[str, float], other: Mapping[str, float], order: Sequence[str]) -> str | None:
    """The cost that makes ``one`` cheaper than ``other``, or None when it is not."""
    for key in order:
        ours, theirs = one.get(key, math.nan), other.get(key, math.nan)
        if not (math.isnan(ours) or math.isnan(theirs) or _equal(key, ours, theirs)):
            return key if ours < theirs else None
    return None


def _cheapest(
    standings: Sequence[Standing], costs: Mapping[str, Mapping[str, float]], order: Sequence[str]
) -> Standing:
    """Cost by cost, cells within the tolerance of the least stay; of these, the best."""
    left = list(standings)
    for key in order:
        of = {s.name: costs[s.name].get(key, math.nan) for s in left}
        known = [cost for cost in of.values() if not math.isnan(cost)]
        if known:
            left = [s for s in left if math.isnan(of[s.name]) or _equal(key, of[s.name], min(known))]
    return max(left, key=lambda s: s.mean.value)


def _equal(key: str, one: float, other: float) -> bool:
    return abs(one - other) <= EQUAL.get(key, 0.0) * max(abs(one), abs(other))


def _required_sample_size(standing: Standing, questions: int, margin: float) -> int | None:
    """How many questions bring the lower limit above the margin; widths fall with √n."""
    difference, lo = standing.to_best.value, standing.to_best.lo
    room = margin + difference
    if lo is None or room <= 0:
        return None
    return math.ceil(questions * ((difference - lo) / room) ** 2)
