"""From a finished sweep to a decision: constraints, verdict on the cells that meet them, costs, choice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from harness.decision.baseline import Baseline, baseline, differences
from harness.decision.latency import Measured, measured, worth_measuring
from harness.decision.operating_points import Deploy, Operating, deciding, operating_points, other_budget
from harness.errors import HarnessError, SettingError
from harness.results.cells import stages
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.scores import Compared, compared
from harness.verdict import Interval, Verdict
from harness.verdict.choice import CellPrice, ChangeReason, ChosenCell, Misses, choose, misses, worth_changing
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

    - ``metric``: what decides, ``recall_at_k`` where each cell has a k of its own; ``post_hoc``: another than
      the sweep's was asked for.
    - ``points``: the operating point of each cell, at which it is judged, priced and shipped.
    - ``costs``: cell to ``{context_tokens, query_ms (p95), index_mb, truncated_evidence, stages}``.
    - ``selection``: among the cells that meet the limits; None when no cell does.
    - ``latency``: measured for this decision; None where those noted during the sweep are used.
    - ``to_baseline``: these cells minus the baseline; ``change``: whether the choice should replace it.
    """

    sweep: FinishedSweep
    metric: str
    post_hoc: bool
    points: Mapping[str, Operating]
    limits: Mapping[str, float]
    costs: Mapping[str, Mapping[str, float]]
    misses: Misses
    selection: Selection | None = None
    latency: Measured | None = None
    notes: Sequence[str] = field(default_factory=tuple)
    baseline: Baseline | None = None
    to_baseline: Mapping[str, Interval] = field(default_factory=dict)
    is_margin_given: bool = False
    change: ChangeReason | None = None

    def price(self, name: str, costs: Mapping[str, float] | None = None) -> CellPrice:
        """What a cell costs; ``costs``: those of a baseline that is no cell."""
        latency = self.latency.cells.get(name) if self.latency else None
        return CellPrice(self.costs[name] if costs is None else costs, latency)

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
            "operating_points": {name: own.point.settings() for name, own in self.points.items()},
            "limits": dict(self.limits),
            "misses": {name: dict(over) for name, over in self.misses.of_cell.items()},
            "nearest": self.misses.nearest,
            "costs": {name: dict(values) for name, values in self.costs.items()},
            "baseline": None if self.baseline is None else self.baseline.name,
            "change": self.change,
            "to_baseline": {name: [d.value, d.lo, d.hi] for name, d in self.to_baseline.items()},
            "latency": None if self.latency is None else self.latency.to_json(),
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
    deploy: Deploy | None = None,
) -> Decision:
    """The decision. ``limits``: cost to the most that is allowed; ``order``: costs, the most important first.

    ``deploy``: what comes back of a ranking, see ``operating_points``. ``margin``: of non-inferiority; None:
    what so many questions can show. ``measure``: latencies are measured again for the cells between which
    they decide. Where documents or model are missing, those of the sweep are used, with a note. ``against``:
    the baseline, a cell's name or a production file. Raises ``SettingError`` for a metric that can't decide
    between these cells.
    """
    limits = dict(limits or {})
    chosen = metric or sweep.primary
    most_tokens = limits.get("context_tokens")
    points = operating_points(sweep, chosen, deploy, most_tokens)
    costs = {cell.name: _costs(cell, points[cell.name].tokens) for cell in sweep.cells}
    note = other_budget(sweep, chosen, points[sweep.cells[0].name], most_tokens)
    is_post_hoc = chosen != sweep.primary
    decision = Decision(sweep, deciding(points), is_post_hoc, points, limits, costs, Misses())
    decision = replace(decision, notes=(note,) if note else (), is_margin_given=margin is not None)
    if measure and "query_ms" in limits:
        decision = _measured(decision, _cheap_first(decision))
    found = misses(decision.costs, limits)
    decision = replace(decision, misses=found)
    feasible = [cell for cell in sweep.cells if cell.name not in found.of_cell]
    if not feasible:
        return decision
    numbers = compared(sweep, chosen, feasible, {name: own.decides for name, own in points.items()})
    verdict = judge(numbers.outcomes, margin, sweep.look.level)
    if measure and "query_ms" in order and "query_ms" not in limits:
        names = worth_measuring(verdict, decision.costs, order)
        decision = _measured(decision, [*names, *_today(sweep, against, {*names, verdict.standings[0].name})])
    prices = {name: decision.price(name) for name in decision.costs}
    choice = choose(verdict, prices, order, verdict.margin)
    selection = Selection(numbers, verdict, choice)
    decision = replace(decision, selection=selection)
    return decision if against is None else _against(decision, selection, against, order, verdict.margin)


def _against(
    decision: Decision, selection: Selection, word: str, order: Sequence[str], margin: float
) -> Decision:
    """The decision with every cell's difference to the baseline."""
    numbers, choice = selection.compared, selection.choice
    base = baseline(word, decision.sweep, numbers, decision.metric, decision.points, decision.costs)
    to_baseline = differences(base, numbers)
    change: ChangeReason = "keep"
    if choice.name != base.cell:
        own, their = decision.price(choice.name), decision.price(base.name, base.costs)
        change = worth_changing(to_baseline.get(choice.name), own, their, order, margin)
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


def _costs(cell: FinishedCell, tokens: str) -> dict[str, float]:
    return {
        "context_tokens": cell.metric(tokens),
        "query_ms": cell.metric("query_ms_p95"),
        "index_mb": cell.metric("index_mb"),
        "truncated_evidence": cell.metric("truncated_evidence"),
        "stages": stages(cell.params),
    }


def _today(sweep: FinishedSweep, against: str | None, measured_anyway: set[str]) -> list[str]:
    """The cell that runs today, with the best, where they have to be measured for a comparison in latency."""
    try:
        today = sweep.cell(against or "").name
    except KeyError:
        return []
    return [] if today in measured_anyway else [today, *measured_anyway]


def _cheap_first(decision: Decision) -> list[str]:
    """The cells that meet all other limits; only among them does latency decide."""
    others = {key: most for key, most in decision.limits.items() if key != "query_ms"}
    over = misses(decision.costs, others).of_cell
    return [name for name in decision.costs if name not in over]


def _measured(decision: Decision, names: Sequence[str]) -> Decision:
    """The decision with the latencies of these cells measured again."""
    if not names:
        return decision
    costs = {name: dict(values) for name, values in decision.costs.items()}
    try:
        found = measured({name: decision.sweep.cell(name).content["config"] for name in names})
    except HarnessError as error:
        reason = re.sub(r"\s+", " ", str(error)).split(". ")[0]
        note = f"Latencies could not be measured here ({reason.rstrip('.')}): those of the sweep are shown."
        return replace(decision, notes=(*decision.notes, note))
    for name, latency in found.cells.items():
        costs[name]["query_ms"] = latency.high
    return replace(decision, costs=costs, latency=found)
