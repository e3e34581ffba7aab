from __future__ import annotations

from pathlib import Path

from harness.tracker.mlflow_ui import how_to_look
from harness.tracker.mlflow_view import plain_link, view_json


def test_a_view_that_could_not_be_saved_has_a_plain_link(tmp_path: Path) -> None:
    """Filter and order then stand in the address, encoded."""
    (line,) = how_to_look("http://host:5000", tmp_path, "7", "abc", "mrr")
    assert line.split()[1] == plain_link("http://host:5000", "7", "abc", "mrr")
    assert line.endswith(
        "/#/experiments/7/runs?workflowType=machine_learning"
        "&searchFilter=tags.mlflow.parentRunId%20%3D%20%27abc%27"
        "&orderByKey=metrics.%60mrr%60&orderByAsc=false"
    )


def test_a_view_is_the_same_every_time() -> None:
    """Chart ids follow from the sweep, so closing a sweep again replaces its view."""
    words = ("abc", "mrr", ["metrics.mrr"], "context_tokens", ["mrr", "at_k/recall"], ["at_k/recall"])
    assert view_json(*words) == view_json(*words)
