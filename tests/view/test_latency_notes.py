"""What is said of latencies: measured for a decision, or noted by the sweep in passing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sweeps_by_hand import cell, sweep

from harness.decision.decide import decide
from harness.decision.latency import Measured
from harness.verdict.latency import Latency
from harness.view import choice
from harness.view.notes import about_latency


def decision(questions=80):
    """Two cells with equal means, noted at 9 and 0.6 ms."""
    rng = np.random.default_rng(1)
    values = rng.random(questions)
    cells = [
        cell(name, {"chunk": name}, content={"timing": {"query_ms_p95": ms}, "k": [5]}, recall_at_5=of)
        for name, ms, of in (("a", 9.0, values), ("b", 0.6, values[::-1]))
    ]
    return decide(sweep(*cells, axes={"chunk": ["a", "b"]}))


def test_what_the_sweep_noted_is_marked(monkeypatch):
    """Both figures have a tilde, the sentence says what they are, and 0.6 ms saves nothing."""
    monkeypatch.setenv("COLUMNS", "100")
    found = decision()
    table = "\n".join(choice.table(found))

    assert "~9.0" in table
    assert "~0.6" in table
    assert "p50" not in table
    assert about_latency(found) == (
        "Milliseconds with ~ were noted by the sweep in passing, over 20 questions and under its load: "
        "only one twentieth of another counts as lower."
    )
    assert "over 7 questions" in about_latency(decision(7))
    assert found.selection.choice.saved is None
    assert found.to_json()["latency"] is None


def test_what_was_measured_is_shown_with_what_it_rests_on(monkeypatch):
    """One cell was measured: median and percentile, without a tilde; the other one keeps it."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    measured = Measured({"a": Latency(np.linspace(1.0, 2.0, 60), 5)}, 1.25)
    found = replace(decision(), latency=measured)
    found = replace(found, costs=found.costs | {"a": found.costs["a"] | {"query_ms": 1.95}})
    table = "\n".join(choice.table(found))

    assert "ms p50" in table
    assert " 1.5 " in table
    assert "~" not in table.splitlines()[2]
    assert "~0.6" in table
    assert about_latency(found) == (
        "Milliseconds without ~: 60 questions, the least of 5 passes each, "
        "cells in turns on one of 2 cores at a load of 1.2."
    )
    assert found.to_json()["latency"]["cells"]["a"]["questions"] == 60
    few = replace(found, latency=Measured({"a": Latency(np.ones(5), 60)}, float("nan")))
    assert about_latency(few).endswith("on one of 2 cores. Of so few, the slowest stands for the p95.")
