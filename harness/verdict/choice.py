"""Which configuration to take: the best observed, or a cheaper one that is shown to be non-inferior."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from harness.verdict import Interval, Standing, Verdict
from harness.verdict.latency import Latency

Reason: TypeAlias = Literal["winner", "best observed", "cheaper", "equal", "only one"]
ChangeReason: TypeAlias = Literal["better", "cheaper", "keep"]
# Costs that differ by this share at most count as equal. Latencies that were noted one after the other under
# the load of a sweep varied from 0.6 to 9 ms for one cell; those measured in turns have limits instead.
EQUAL = {"query_ms": 0.95, "context_tokens": 0.02, "index_mb": 0.02}


class CellPrice(NamedTuple):
    """The costs of a cell, and its latency where that was measured for the decision."""

    costs: Mapping[str, float]
    latency: Latency | None = None

    def is_lower(self, key: str, other: CellPrice) -> bool:
        """Whether this cost is lower than the other's, beyond its noise. An unknown one (nan) is not."""
        if key == "query_ms" and self.latency and other.latency and self.latency.group == other.latency.group:
            return self.latency.is_lower(other.latency)
        one, two = self.costs.get(key, math.nan), other.costs.get(key, math.nan)
        return one < two and two - one > EQUAL.get(key, 0.0) * max(abs(one), abs(two))


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
    verdict: Verdict, prices: Mapping[str, CellPrice], order: Sequence[str], margin: float
) -> ChosenCell:
    """The choice among the cells of ``verdict``; ``order`` names the costs, the most important first.

    A cell is taken instead of the best observed only if it is cheaper and shown to be ``non_inferior``, or
    has the same results. Where no cost is lower beyond its noise, the next cost decides. Between cells with
    the same results, fewer ``stages`` (where the costs have them) count before latency.
    """
    best = verdict.standings[0]
    if len(verdict.standings) == 1:
        return ChosenCell(best.name, "only one", best.name)
    equal = [s for s in verdict.standings if best.name in {s.name, s.same_as}]
    first = _cheapest(equal, prices, _staged(order)).name
    if len(equal) == len(verdict.standings):
        return ChosenCell(first, "equal", best.name)
    others = [s for s in verdict.standings if s not in equal]
    cheaper = {
        standing.name: saved
        for standing in others
        if (saved := _saved(prices[standing.name], prices[first], order)) is not None
    }
    proven = [s for s in others if s.non_inferior and s.name in cheaper]
    if proven:
        taken = _cheapest(proven, prices, order)
        return ChosenCell(taken.name, "cheaper", first, cheaper[taken.name])
    open_ = [s for s in others if s.name in cheaper and s.status != "ruled out"]
    reason: Reason = "winner" if verdict.winner == best.name else "best observed"
    if not open_:
        return ChosenCell(first, reason, first)
    candidate = _cheapest(open_, prices, order)
    needed = _required_sample_size(candidate, verdict.questions, margin)
    return ChosenCell(
        first, reason, first, cheaper[candidate.name], candidate.name, required_sample_size=needed
    )


def _staged(order: Sequence[str]) -> tuple[str, ...]:
    at = order.index("query_ms") if "query_ms" in order else len(order)
    return (*order[:at], "stages", *order[at:])


def worth_changing(
    to_baseline: Interval | None,
    price: CellPrice,
    baseline_price: CellPrice,
    order: Sequence[str],
    margin: float,
) -> ChangeReason:
    """Whether the chosen cell should replace the baseline; ``to_baseline`` is None for the same results.

    "better": it is shown to be better. "cheaper": it is cheaper, and shown to lose less than the margin. Else
    "keep".
    """
    if to_baseline is None:
        return "keep" if _saved(price, baseline_price, _staged(order)) is None else "cheaper"
    if to_baseline.lo is not None and to_baseline.lo > 0:
        return "better"
    is_cheaper = _saved(price, baseline_price, order) is not None
    if is_cheaper and to_baseline.lo is not None and to_baseline.lo > -margin:
        return "cheaper"
    return "keep"


def _saved(one: CellPrice, other: CellPrice, order: Sequence[str]) -> str | None:
    """The cost that makes ``one`` cheaper than ``other``, or None when it is not."""
    for key in order:
        if one.is_lower(key, other):
            return key
        if other.is_lower(key, one):
            return None
    return None


def _cheapest(
    standings: Sequence[Standing], prices: Mapping[str, CellPrice], order: Sequence[str]
) -> Standing:
    """Cost by cost, cells than which the least is not lower stay; of these, the best."""
    left = list(standings)
    for key in order:
        known = [prices[s.name] for s in left if not math.isnan(prices[s.name].costs.get(key, math.nan))]
        if known:
            least = min(known, key=lambda price: price.costs[key])
            left = [s for s in left if not least.is_lower(key, prices[s.name])]
    return max(left, key=lambda s: s.mean.value)


def _required_sample_size(standing: Standing, questions: int, margin: float) -> int | None:
    """How many questions bring the lower limit above the margin; widths fall with √n."""
    difference, lo = standing.to_best.value, standing.to_best.lo
    room = margin + difference
    if lo is None or room <= 0:
        return None
    return math.ceil(questions * ((difference - lo) / room) ** 2)
