"""How much of a ranking is judged, priced and shipped."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps_by_hand import cell, sweep

from harness.decision.operating_points import deciding, operating_points, other_budget
from harness.errors import SettingError
from harness.metrics.operating_point import OperatingPoint
from harness.metrics.reading import rows_back

HALF = [1.0, 0.0]
# Tokens of 1, 5 and 9 rows: 9 rows of the small chunks fit into 1,000 tokens, 5 of the large ones.
SMALL = {"context_tokens_at_1": 100.0, "context_tokens_at_5": 500.0, "context_tokens_at_9": 900.0}
LARGE = {"context_tokens_at_1": 200.0, "context_tokens_at_5": 1000.0, "context_tokens_at_9": 1800.0}


def measured(name, tokens, **content):
    """A cell with recall at 1, 5 and 9 rows, at two budgets, and over them."""
    columns = {f"recall_at_{k}": HALF for k in (1, 5, 9)}
    columns |= {f"recall_at_{budget}_tokens": HALF for budget in (500, 1000)} | {"recall_over_budgets": HALF}
    columns |= {key: [value, value] for key, value in tokens.items()}
    return cell(name, {"chunk": name}, content=content, **columns)


SWEEP = sweep(measured("small", SMALL), measured("large", LARGE), axes={"chunk": ["small", "large"]})


@pytest.mark.parametrize(
    ("metric", "deploy", "most", "points", "recorded"),
    [
        ("recall_at_1000_tokens", None, None, [{"context_budget": 1000}] * 2, "recall_at_1000_tokens"),
        ("recall_at_1000_tokens", None, 700, [{"context_budget": 500}] * 2, "recall_at_500_tokens"),
        ("recall_at_1000_tokens", None, 100, [{"context_budget": 500}] * 2, "recall_at_500_tokens"),
        ("recall_at_1000_tokens", "k", None, [{"k": 9}, {"k": 5}], None),
        ("recall_at_1000_tokens", "k", 600, [{"k": 5}, {"k": 1}], None),
        ("recall_at_5", None, None, [{"k": 5}] * 2, "recall_at_5"),
        ("recall_at_5", None, 900, [{"k": 9}, {"k": 1}], None),
        # The nearest to 2,000 tokens of those that were measured.
        ("recall_over_budgets", None, None, [{"context_budget": 1000}] * 2, "recall_at_1000_tokens"),
        ("recall_over_budgets", "k", None, [{"k": 9}, {"k": 5}], None),
    ],
)
def test_what_ships_is_what_decides(metric, deploy, most, points, recorded):
    """A budget ships as a budget, rows as rows; a limit or ``deploy`` chooses among what was measured."""
    found = operating_points(SWEEP, metric, deploy, most)

    assert [own.point.settings() for own in found.values()] == points
    if recorded:
        assert {own.recorded for own in found.values()} == {recorded}
    else:
        assert [own.recorded for own in found.values()] == [f"recall_at_{point['k']}" for point in points]
    names = {own.tokens for own in found.values()}
    assert names == {own.point.at("context_tokens_at_1") for own in found.values()}


def test_the_deciding_metric_has_one_name():
    """``recall_at_k`` where each cell has a k of its own; the mean over budgets keeps its name."""
    assert deciding(operating_points(SWEEP, "recall_at_1000_tokens", "k")) == "recall_at_k"
    assert deciding(operating_points(SWEEP, "recall_over_budgets")) == "recall_over_budgets"
    assert deciding(operating_points(SWEEP, "recall_at_1000_tokens", None, 600)) == "recall_at_500_tokens"


def test_a_row_that_is_left_out_is_part_of_the_point():
    """Two configurations that differ in it return other rows, so their points differ."""
    config = {"config": {"metrics": {"last_row": "leave_out"}}}
    found = operating_points(sweep(measured("small", SMALL, **config), axes={}), "recall_at_500_tokens")

    assert found["small"].point.settings() == {"context_budget": 500, "last_row": "leave_out"}
    assert found["small"].point != OperatingPoint(context_budget=500)


@pytest.mark.parametrize(
    ("metric", "deploy", "words"),
    [
        ("recall_at_3000_tokens", None, "recall_at_3000_tokens was not measured in small"),
        ("recall_at_3000_tokens", "k", "recall_at_3000_tokens was not measured in small"),
        ("recall_at_5", "budget", r"recall_at_5 counts rows\. Give metric=recall_at_1000_tokens"),
    ],
)
def test_what_was_not_measured_is_refused(metric, deploy, words):
    """Never another metric in its place."""
    with pytest.raises(SettingError, match=words):
        operating_points(SWEEP, metric, deploy)


def test_a_budget_that_was_not_measured_is_said():
    """Only where the limit lies below the metric's own budget, and is none of those that were measured."""

    def said(metric, most):
        return other_budget(SWEEP, metric, operating_points(SWEEP, metric, None, most)["small"], most)

    assert "did not measure a budget of 700 tokens" in said("recall_at_1000_tokens", 700)
    assert "it can ship is 500" in said("recall_over_budgets", 700)
    assert said("recall_at_1000_tokens", 500) is None
    assert said("recall_at_1000_tokens", 5000) is None
    assert said("recall_at_5", 700) is None


def test_the_rows_that_come_back():
    """Rows of 30 tokens each: of 70, two in full and one cut; of 60, two; of 1,000, all; of 10, one that is cut."""
    tokens = np.array([[30, 60, 90]])

    def back(budget, last_row="cut"):
        return rows_back(OperatingPoint(None, budget, last_row), tokens).tolist()

    assert [back(budget) for budget in (70, 60, 1000, 10)] == [[3], [2], [3], [1]]
    assert [back(budget, "leave_out") for budget in (70, 60, 1000, 10)] == [[2], [2], [3], [0]]
    assert rows_back(OperatingPoint(k=2), tokens).tolist() == [2]
