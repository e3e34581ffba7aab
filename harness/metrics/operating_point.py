"""How much of a ranking is returned: so many rows, or rows up to so many tokens of context."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

USUAL_BUDGET = 2000
# The mean of recall over the budgets, which has no operating point of its own.
OVER_BUDGETS = "recall_over_budgets"
_ENDING = re.compile(r"_at_(\d+)(_tokens)?$")


class OperatingPoint(NamedTuple):
    """``k`` rows, or rows up to ``context_budget`` tokens; one of the two is None.

    ``last_row``: within a budget, the row that exceeds it is "cut", or "leave_out": left out.
    """

    k: int | None = None
    context_budget: int | None = None
    last_row: str = "cut"

    @classmethod
    def of(cls, metric: str) -> OperatingPoint | None:
        """The point in a metric's name: 5 rows of ``recall_at_5``; None for a name such as ``mrr``."""
        found = _ENDING.search(metric)
        if found is None:
            return None
        return cls(context_budget=int(found[1])) if found[2] else cls(k=int(found[1]))

    def at(self, metric: str) -> str:
        """The same metric at this point: ``recall_at_5`` at 2,000 tokens is ``recall_at_2000_tokens``.

        A metric without a point stays as it is.
        """
        ending = f"_at_{self.k}" if self.context_budget is None else f"_at_{self.context_budget}_tokens"
        return _ENDING.sub(ending, metric)

    def settings(self) -> dict[str, Any]:
        """The point as settings: ``{"k": 5}``, or ``{"context_budget": 2000}`` with a last row left out."""
        if self.context_budget is None:
            return {"k": self.k}
        budget: dict[str, Any] = {"context_budget": self.context_budget}
        return budget if self.last_row == "cut" else budget | {"last_row": self.last_row}


def nearest_budget(budgets: Iterable[int]) -> int:
    """The budget nearest to 2,000 tokens, the smaller of two; there must be one."""
    return min(sorted(budgets), key=lambda tokens: abs(tokens - USUAL_BUDGET))
