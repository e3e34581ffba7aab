from __future__ import annotations

from harness.tracker.mlflow_view import view_json


def test_a_view_is_the_same_every_time() -> None:
    """Chart ids follow from the sweep, so closing a sweep again replaces its view."""
    words = ("abc", "mrr", ["metrics.mrr"], "context_tokens", ["mrr", "at_k/recall"], ["at_k/recall"])
    assert view_json(*words) == view_json(*words)
