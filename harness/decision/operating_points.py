"""The operating point of each cell: how much of its ranking is judged, priced and shipped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from harness.errors import SettingError
from harness.metrics.operating_point import OVER_BUDGETS, OperatingPoint, nearest_budget
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.scores import refuse_unmeasured

Deploy: TypeAlias = Literal["k", "budget"]


class Operating(NamedTuple):
    """A cell's operating point.

    ``decides``: the metric that decides. ``recorded``: its quality at the point, which is ``decides`` unless
    that is a mean over several budgets. ``tokens``: the metric of the tokens that come back.
    """

    point: OperatingPoint
    decides: str
    recorded: str
    tokens: str


def operating_points(
    sweep: FinishedSweep, metric: str, deploy: Deploy | None = None, most_tokens: float | None = None
) -> dict[str, Operating]:
    """The operating point of each cell of ``sweep``, by name.

    A ``metric`` at a budget ships the budget, another one rows: those of its k, or the sweep's. With
    ``deploy`` "k" each cell gets the largest measured k whose rows fit into the budget on average.
    ``most_tokens``: the most tokens that may come back; the largest measured budget, or k, within them is
    taken, and the smallest where none is. Raises ``SettingError`` for a metric that was not measured, and for
    ``deploy`` "budget" with a metric of rows.
    """
    for cell in sweep.cells:
        refuse_unmeasured(cell, metric)
    budgets = _budgets(sweep)
    if metric == OVER_BUDGETS:
        point = OperatingPoint(context_budget=nearest_budget(budgets))
    else:
        point = OperatingPoint.of(metric) or OperatingPoint(k=sweep.k)
    if point.context_budget is None and deploy == "budget":
        usual = f"Give metric=recall_at_{nearest_budget(budgets)}_tokens." if budgets else ""
        instead = usual or "There is none here."
        raise SettingError(
            f"pick.deploy=budget needs a metric at a budget, and {metric} counts rows. " + instead,
            key="pick.deploy",
        )
    most = min((m for m in (point.context_budget, most_tokens) if m is not None), default=None)
    if point.context_budget is not None and deploy != "k":
        budget = max((b for b in budgets if most is None or b <= most), default=min(budgets))
        points = {cell.name: OperatingPoint(None, budget, _last_row(cell)) for cell in sweep.cells}
        return {name: _operating(metric, found) for name, found in points.items()}
    # A mean over budgets has no value at k: recall at the budget's k stands for it.
    counted = point.at("recall_at_1") if metric == OVER_BUDGETS else metric
    return {
        cell.name: _operating(counted, point if most is None else _fitting(cell, counted, most, sweep.k))
        for cell in sweep.cells
    }


def deciding(points: Mapping[str, Operating]) -> str:
    """The metric that decides between these cells; ``recall_at_k`` where each has a k of its own."""
    names = {own.decides for own in points.values()}
    return names.pop() if len(names) == 1 else re.sub(r"_at_\d+$", "_at_k", names.pop())


def other_budget(sweep: FinishedSweep, metric: str, used: Operating, most_tokens: float | None) -> str | None:
    """That ``most_tokens`` was not measured as a budget, where ``used`` has another one instead; or None."""
    budget = used.point.context_budget
    if most_tokens is None or budget is None or budget == most_tokens:
        return None
    own = OperatingPoint.of(metric)
    if (own.context_budget or 0 if own else nearest_budget(_budgets(sweep))) <= most_tokens:
        return None
    return (
        f"The sweep did not measure a budget of {most_tokens:g} tokens; the nearest that it can ship is "
        f"{budget:,}. Sweep with context_budget={most_tokens:g} to decide there."
    )


def _operating(metric: str, point: OperatingPoint) -> Operating:
    recorded = point.at("recall_at_1" if metric == OVER_BUDGETS else metric)
    kind = "document_" if metric.startswith("document_") else ""
    decides = metric if metric == OVER_BUDGETS else recorded
    return Operating(point, decides, recorded, kind + point.at("context_tokens_at_1"))


def _fitting(cell: FinishedCell, metric: str, most: float, k: int) -> OperatingPoint:
    """The largest k at which the metric was measured whose rows have at most so many tokens on average."""
    metrics: Mapping[str, float] = cell.content["metrics"]
    points = [p for p in _measured(cell) if p.k is not None and p.at(metric) in metrics]
    within = [p for p in points if metrics.get(_operating(metric, p).tokens, 0.0) <= most]
    return max(within, default=min(points, default=OperatingPoint(k=k)))


def _last_row(cell: FinishedCell) -> str:
    return str(cell.content["config"].get("metrics", {}).get("last_row", "cut"))


def _budgets(sweep: FinishedSweep) -> list[int]:
    return [p.context_budget for p in _measured(sweep.cells[0]) if p.context_budget is not None]


def _measured(cell: FinishedCell) -> set[OperatingPoint]:
    """The numbers of rows and the budgets at which ``cell`` was measured."""
    named = (OperatingPoint.of(name) for name in cell.content["metrics"])
    return {point for point in named if point is not None}
