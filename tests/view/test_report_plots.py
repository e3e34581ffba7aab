"""Scales, charts and tables of the report."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_sweep import made_sweep

from harness.verdict import Interval
from harness.verdict.effects import Effect, MatchedPair
from harness.view.report.drawing import Scale, apart, folded, forest, padded, ticks
from harness.view.report.effects import effect_groups
from harness.view.report.plots import CostPoint, front, left_grey, recall_lines, scatter

FEW = st.floats(-1e3, 1e3, allow_nan=False)


@settings(derandomize=True, max_examples=300)
@given(FEW, st.floats(1e-3, 1e3))
def test_ticks_are_round_and_inside(low, size):
    """One to nine of them, evenly apart by 1, 2 or 5 times a power of ten, none outside."""
    found = ticks(low, low + size)
    steps = np.diff(found)

    assert 1 <= len(found) <= 9
    assert all(low - 1e-6 * size <= t <= low + size + 1e-6 * size for t in found)
    for step in steps:
        digit = step / 10 ** math.floor(math.log10(step) + 1e-6)
        assert min(abs(digit - m) for m in (1, 2, 5)) < 1e-3


def test_ticks_by_hand():
    """0 to 1 in about four: 1/4 is rounded up to 0.5."""
    assert ticks(0, 1) == [0, 0.5, 1]
    assert ticks(0.13, 0.87) == [0.2, 0.4, 0.6, 0.8]
    assert ticks(3, 3) == [3]


def test_a_scale_places_ends_and_middle():
    """Linear, and by ratio where it is a log: 10 lies half way from 1 to 100."""
    assert [Scale(0, 10, 100, 200)(v) for v in (0, 5, 10)] == [100, 150, 200]
    assert Scale(1, 100, 0, 200, is_log=True)(10) == 100
    assert Scale(5, 5, 0, 200)(5) == 100


@settings(derandomize=True, max_examples=300)
@given(st.lists(st.floats(0, 100), min_size=1, max_size=8))
def test_labels_are_pushed_apart_in_their_order(places):
    """No two overlap, none leaves the frame, and those that had room stay."""
    ordered = sorted(places)
    moved = apart(ordered, 12, 0, 100)

    assert all(b - a >= 12 - 1e-6 for a, b in itertools.pairwise(moved))
    assert moved[0] >= -1e-6 or moved[0] >= 0
    assert moved[-1] <= 100 + 1e-6
    if all(b - a >= 12 for a, b in itertools.pairwise(ordered)):
        assert moved == ordered


def test_names_are_folded_and_never_cut():
    """A long name takes two lines, broken at a middle dot."""
    assert folded("minilm · 128") == ["minilm · 128"]
    assert folded("sentence-transformers · recursive · 512") == ["sentence-transformers", "recursive · 512"]
    assert folded("x" * 40) == ["x" * 40]


@settings(derandomize=True, max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_the_front_is_what_nothing_cheaper_reaches(pairs):
    """Oracle: every point against every other."""
    points = [CostPoint(i, str(i), cost, quality) for i, (cost, quality) in enumerate(pairs)]
    values = {
        (p.cost, p.quality)
        for p in points
        if not any(
            q.cost <= p.cost and q.quality >= p.quality and (q.cost, q.quality) != (p.cost, p.quality)
            for q in points
        )
    }

    assert [(p.cost, p.quality) for p in front(points)] == sorted(values)


def test_equal_costs_make_no_chart():
    """At a fixed budget all cells cost the same: there is nothing to weigh."""
    assert scatter([CostPoint(0, "a", 2000, 0.5), CostPoint(1, "b", 2000, 0.6)], "tokens", "recall") is None
    assert scatter([CostPoint(0, "a", 2000, 0.5)], "tokens", "recall") is None


def test_names_in_charts_are_escaped():
    """A name is text, wherever it is drawn."""
    drawn = scatter([CostPoint(0, "<b>", 1, 0.5), CostPoint(1, "&", 2, 0.6)], "c<d", "q&")

    assert "<b>" not in str(drawn)
    assert "&lt;b&gt;" in str(drawn)


def test_intervals_share_one_scale():
    """Equal values stand at equal places in all rows; without limits there is a dot and no line."""
    found = forest([Interval(0.5, 0.4, 0.6), Interval(0.5, None, None), Interval(math.nan, None, None)])
    places = [re.search(r'cx="([\d.]+)"', str(row)) for row in found]

    assert places[0]
    assert places[1]
    assert places[0][1] == places[1][1]
    assert "whisker" in found[0]
    assert "whisker" not in found[1]
    assert found[2] == ""
    assert forest([]) == []


@pytest.fixture
def sweep(tmp_path):
    axes = {"model": ["a", "b"], "chunker.overlap": ["0", "32"], "chunk": ["128", "256", "512"]}
    return made_sweep(tmp_path, axes, ["?"] * 50, {f"{i}.md": "x y z " * 60 for i in range(9)})


def test_of_many_lines_the_best_and_the_worst_have_names(sweep):
    """Twelve cells: seven names at most, the others thin, and counted."""
    cells = {cell.name: cell.content["metrics"] for cell in sweep.cells}
    drawn = str(recall_lines(cells, r"recall_at_(\d+)", "rows"))
    grey = left_grey(cells, r"recall_at_(\d+)")

    assert drawn.count('class="line"') == 7
    assert drawn.count('class="thin"') == grey > 0
    assert recall_lines(cells, r"nothing_at_(\d+)", "rows") is None


def test_lines_that_coincide_share_a_name():
    """Ten cells on three lines are not too many to be told apart: the first name and how many more."""
    values = {"a": (0.9, 5), "b": (0.8, 2), "c": (0.7, 1)}
    cells = {
        f"{name}{i}": {"recall_at_1": value - 0.1, "recall_at_5": value}
        for name, (value, count) in values.items()
        for i in range(count)
    }
    drawn = str(recall_lines(cells, r"recall_at_(\d+)", "rows"))

    assert drawn.count('class="line"') == 3
    assert re.findall(r'class="name">([^<]*)<', drawn) == ["a0", "and 4 more", "b0", "and 1 more", "c0"]
    assert left_grey(cells, r"recall_at_(\d+)") == 0


def test_an_effect_that_depends_is_given_per_combination():
    """A mean that hides opposite signs is not shown; what it depends on is said."""
    pairs = [
        MatchedPair("a", "b", {"model": "x"}, Interval(-0.06, -0.09, -0.03)),
        MatchedPair("c", "d", {"model": "y"}, Interval(0.066, 0.03, 0.1)),
    ]
    [group] = effect_groups(
        [Effect("chunk", "256", "512", Interval(0.003, -0.02, 0.03), pairs, True, ("model",), True)]
    )

    assert group.remark == "depends on the model, and even changes sign"
    assert [(line.within, line.interval) for line in group.lines] == [
        ("model x", pairs[0].difference),
        ("model y", pairs[1].difference),
    ]


def test_room_is_left_around_values():
    """Points do not stand on the frame, even when all are equal."""
    assert padded([1.0, 2.0], 0.1) == (0.9, 2.1)
    low, high = padded([0.0, 0.0])
    assert low < 0 < high
