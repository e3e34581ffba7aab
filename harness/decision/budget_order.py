"""Whether another budget of context has another best cell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.records import FloatArray, IntArray
from harness.results.finished import FinishedSweep
from harness.results.scores import compared
from harness.verdict.simultaneous import several

_RISK = 0.05


@dataclass(frozen=True)
class BudgetOrder:
    """Which cell has the highest mean at each budget.

    ``leaders``: budget in tokens, ascending, to the cell. ``depends``: of two leaders each is shown to be
    better than the other at some budget (a change of sign, Gail & Simon 1985).
    """

    leaders: Mapping[int, str]
    depends: bool


def budget_order(sweep: FinishedSweep, metric: str, best: str) -> BudgetOrder | None:
    """The leaders by the budgets of ``metric``; of equal means ``best`` leads, then the cheapest.

    None where ``metric`` has no budget, and where there are not two budgets or two cells that differ.
    """
    stem = re.fullmatch(r"(.+)_(at_\d+_tokens|over_budgets)", metric)
    if stem is None or len(sweep.cells) < 2:
        return None
    pattern = re.compile(rf"{re.escape(stem[1])}_at_(\d+)_tokens")
    columns = set.intersection(*(set(cell.questions) for cell in sweep.cells))
    budgets = sorted(int(found[1]) for name in columns if (found := pattern.fullmatch(name)))
    if len(budgets) < 2:
        return None
    outcomes = [compared(sweep, f"{stem[1]}_at_{budget}_tokens").outcomes for budget in budgets]
    names, costs = outcomes[0].names, outcomes[0].costs
    cost = np.zeros(len(names)) if costs is None else costs
    order = sorted(range(len(names)), key=lambda cell: (names[cell] != best, cost[cell], names[cell]))
    values = np.stack([at.values[order] for at in outcomes])  # (budgets, cells, questions)
    if (values == values[:, :1]).all():
        return None
    first = values.mean(axis=2).round(12).argmax(axis=1).tolist()
    depends = _depends(values, outcomes[0].clusters, sorted(set(first)))
    return BudgetOrder({b: names[order[cell]] for b, cell in zip(budgets, first, strict=True)}, depends)


def _depends(values: FloatArray, clusters: IntArray, leaders: Sequence[int]) -> bool:
    """Whether two leaders are shown to change places; all pairs and budgets are tested together.

    The leaders were chosen among all cells, so the risk is divided by a leader's rivals (Bonferroni).
    """
    pairs = list(combinations(leaders, 2))
    if not pairs:
        return False
    ahead = np.concatenate([values[:, one] - values[:, other] for one, other in pairs])
    found = several(ahead, clusters, _RISK / (values.shape[1] - 1))
    signs = np.sign([interval.value for interval in found.intervals]) * found.shown
    return any(set(of) >= {-1.0, 1.0} for of in signs.reshape(len(pairs), -1))
