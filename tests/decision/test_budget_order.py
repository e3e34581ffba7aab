from __future__ import annotations

import numpy as np
import pytest
from sweeps_by_hand import cell, sweep

from harness.decision.budget_order import BudgetOrder, budget_order
from harness.view.notes import about_budgets

QUESTIONS = 60
INDEPENDENT = [f"recall_at_{budget}_tokens" for budget in (500, 1000, 4000)]


def found(name: str, *counts: int, tokens: float = 100.0):
    """A cell that finds the first so many of 60 questions at 500, 1,000 and 4,000 tokens."""
    columns = {
        metric: (np.arange(QUESTIONS) < count).astype(float)
        for metric, count in zip(INDEPENDENT, counts, strict=False)
    }
    content = {"chunk_independent": [*INDEPENDENT, "recall_over_budgets"]}
    made = cell(name, {"chunk": name}, content=content, **columns)
    made.content["metrics"]["context_tokens_at_5"] = tokens
    return made


def order(*cells, best: str = "a", metric: str = "recall_at_1000_tokens") -> BudgetOrder | None:
    return budget_order(sweep(*cells, axes={"chunk": [c.name for c in cells]}), metric, best)


def test_two_cells_that_change_places_depend_on_the_budget():
    """The one finds 20 more of 60 questions at 500 tokens, the other at 4,000; each alone is far beyond chance."""
    given = order(found("a", 40, 40, 30), found("b", 20, 30, 50))

    assert given == BudgetOrder({500: "a", 1000: "a", 4000: "b"}, depends=True)
    assert about_budgets(given) == [
        "The best depends on the budget in tokens: a at 500 and 1,000, b at 4,000. Choose your budget."
    ]


@pytest.mark.parametrize("last", [41, 50])
def test_a_change_of_places_must_be_shown_at_both_budgets(last):
    """The second leads at 4,000 tokens, by chance or not; at 500 the first leads by one question only."""
    given = order(found("a", 21, 30, 40), found("b", 20, 30, last))

    assert given == BudgetOrder({500: "a", 1000: "a", 4000: "b"}, depends=False)
    (said,) = about_budgets(given)
    assert said.startswith("Highest observed by budget in tokens: a at 500 and 1,000, b at 4,000. ")
    assert said.endswith("That the best depends on it is not shown.")


def test_one_leader_everywhere_is_said_in_a_sentence():
    """A tie at 4,000 tokens goes to the sweep's best, whatever it costs; without it to the cheaper cell."""
    cells = found("a", 30, 40, 50, tokens=900.0), found("b", 20, 30, 50), found("c", 10, 30, 50, tokens=50.0)

    assert about_budgets(order(*cells)) == ["a leads at 500 to 4,000 tokens."]
    assert order(*cells, best="b").leaders == {500: "a", 1000: "a", 4000: "b"}
    assert order(*cells, best="none").leaders[4000] == "c"


def test_a_mean_over_budgets_has_the_same_leaders():
    cells = found("a", 40, 40, 30), found("b", 20, 30, 50)
    assert order(*cells, metric="recall_over_budgets") == order(*cells)


def test_where_no_budget_decides_nothing_is_said():
    """A metric of rows, one cell, equal cells, one budget, and few clusters (which show nothing)."""
    cells = found("a", 40, 40, 30), found("b", 20, 30, 50)

    assert order(*cells, metric="recall_at_5") is None
    assert order(cells[0]) is None
    assert order(found("a", 9, 9, 9), found("b", 9, 9, 9)) is None
    assert order(found("a", 40), found("b", 20), metric="recall_at_500_tokens") is None
    assert about_budgets(None) == []
    for made in cells:
        made.questions["cluster"] = np.array([f"{i % 5}.md" for i in range(QUESTIONS)])
    assert order(*cells).depends is False
