from __future__ import annotations

import math

from pyarrow import csv
from sweeps_by_hand import cell, sweep

from harness.results.finished import per_question, table


def example():
    first = cell("a", {"model": "a"}, run_id="abc123", recall_at_5=[1.0, 0.0], first_rank=[1.0, math.nan])
    second = cell("b", {"model": "b"}, recall_at_5=[0.5, math.nan], mrr=[1.0, 1.0])
    failed = ({"name": "c", "error": "It, too, failed."},)
    return sweep(first, second, axes={"model": ["a", "b", "c"]}, failures=failed)


def test_one_row_for_each_cell(tmp_path) -> None:
    """Settings, every figure and what was measured on; failed cells keep their place with the reason; csv reads back."""
    rows = table(example()).to_pylist()

    assert [(row["cell"], row["model"], row["recall_at_5"], row["error"]) for row in rows] == [
        ("a", "a", 0.5, None),
        ("b", "b", 0.5, None),
        ("c", None, None, "It, too, failed."),
    ]
    assert rows[0]["run_id"] == "abc123"
    assert rows[0]["chunks"] == 10.0
    assert rows[0]["search_seconds"] == 0.5
    assert rows[0]["golden_digest"] == "g"
    assert rows[0]["mrr"] is None
    csv.write_csv(table(example()), tmp_path / "table.csv")
    assert csv.read_csv(tmp_path / "table.csv").num_rows == 3


def test_one_row_for_each_cell_and_question() -> None:
    """Undefined values and columns that a cell lacks are null, and the axes stand beside the cell's name."""
    rows = per_question(example()).to_pylist()

    assert [(row["cell"], row["model"], row["question_id"]) for row in rows] == [
        ("a", "a", "q0"),
        ("a", "a", "q1"),
        ("b", "b", "q0"),
        ("b", "b", "q1"),
    ]
    assert [row["recall_at_5"] for row in rows] == [1.0, 0.0, 0.5, None]
    assert [row["first_rank"] for row in rows] == [1.0, None, 1.0, 1.0]
    assert [row["mrr"] for row in rows] == [None, None, 1.0, 1.0]
    assert per_question(sweep(axes={})).num_rows == 0
