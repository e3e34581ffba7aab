"""Latencies for a decision: in turns, the least of several passes, under a load that the cores allow."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.decision import latency
from harness.errors import HarnessError


class Clock:
    """Time passes only when a cell answers; what is asked is recorded."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        self.asked = []
        monkeypatch.setattr(latency.time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(latency.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(latency, "_load", lambda: 2.0)

    def cell(self, name, seconds):
        """A cell that takes what ``seconds`` gives for the question and the number of the call."""

        def answer(text):
            self.asked.append((name, text))
            self.now += seconds(int(text), sum(one == (name, text) for one in self.asked))

        return answer


def test_the_least_of_all_passes_counts(monkeypatch):
    """Question i takes i ms when it is asked for the third time, else 100 more; three are asked once before."""
    clock = Clock(monkeypatch)
    cells = {"a": clock.cell("a", lambda i, call: (i if call == 3 else i + 100) / 1000)}
    found = latency.in_turns(cells, [str(i) for i in range(1, 61)])

    assert found.cells["a"].passes == 5
    assert found.cells["a"].ms == pytest.approx(np.arange(1, 61))
    assert found.load == 2.0
    assert len(clock.asked) == 3 + 5 * 60


def test_cells_take_turns_in_changing_order(monkeypatch):
    """A machine that gets slower from call to call hits all cells alike, and each is asked first sometimes."""
    clock = Clock(monkeypatch)
    cells = {name: clock.cell(name, lambda i, call: 0.01 + 1e-5 * len(clock.asked)) for name in "abc"}
    found = latency.in_turns(cells, [str(i) for i in range(60)])
    after = clock.asked[9:]
    rounds = [after[i : i + 3] for i in range(0, len(after), 3)]

    assert all(
        len({text for _, text in asked}) == 1 and len({name for name, _ in asked}) == 3 for asked in rounds
    )
    assert {asked[0][0] for asked in rounds} == {*"abc"}
    assert not any(one.is_lower(other) for one in found.cells.values() for other in found.cells.values())


@pytest.mark.parametrize(("questions", "passes"), [(1, 300), (20, 15), (59, 6), (60, 5)])
def test_few_questions_are_asked_more_often(monkeypatch, questions, passes):
    """300 measurements at least."""
    clock = Clock(monkeypatch)
    found = latency.in_turns({"a": clock.cell("a", lambda i, call: 1e-3)}, [str(i) for i in range(questions)])

    assert found.cells["a"].passes == passes


def test_slow_cells_get_two_passes(monkeypatch):
    """At two seconds for each question, the first pass takes two minutes already."""
    clock = Clock(monkeypatch)
    found = latency.in_turns({"a": clock.cell("a", lambda i, call: 2.0)}, [str(i) for i in range(60)])

    assert found.cells["a"].passes == 2


class InPlace:
    """A pool of processes that runs what it gets here."""

    def __init__(self, *_args, **_settings):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        pass

    def submit(self, work, *given):
        class Future:
            result = staticmethod(lambda: work(*given))

        return Future


@pytest.mark.parametrize(("load", "is_refused"), [(1.0, False), (2.4, False), (2.6, True)])
def test_a_load_that_the_cores_do_not_allow_is_refused(monkeypatch, load, is_refused):
    """Two processes have a core each on two cores; a third one takes time from the measured one."""
    monkeypatch.setattr(latency, "ProcessPoolExecutor", InPlace)
    monkeypatch.setattr(latency.os, "cpu_count", lambda: 2)
    one = latency.Latency(np.ones(60), 5)
    monkeypatch.setattr(
        latency, "_of_group", lambda some, _: latency.Measured(dict.fromkeys(some, one), load)
    )

    if is_refused:
        with pytest.raises(
            HarnessError, match=r"2\.6 processes want a core at a time, and the machine has 2"
        ):
            latency.measured({"a": {}})
    else:
        assert latency.measured({"a": {}}).to_json()["load"] == load


def test_more_than_eight_cells_are_not_compared_across_groups(monkeypatch):
    """Nine cells are two groups."""
    monkeypatch.setattr(latency, "ProcessPoolExecutor", InPlace)

    def of_group(some, group):
        return latency.Measured({name: latency.Latency(np.ones(60), 5, group) for name in some}, 1.0)

    monkeypatch.setattr(latency, "_of_group", of_group)
    found = latency.measured({str(i): {} for i in range(9)})

    assert [cell.group for cell in found.cells.values()] == [0] * 8 + [1]
    assert json.loads(json.dumps(found.to_json()))["cells"]["8"]["p50"] == [1.0, 1.0, 1.0]
