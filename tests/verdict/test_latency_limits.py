"""When one latency is lower than another: beyond noise, by a tenth, and question by question."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.verdict.latency import Latency


def around(ms, noise=0.0, *, seed=0, questions=60, group=0):
    """Latencies of questions of different lengths: from half to thrice ``ms``, each off by about ``noise``."""
    lengths = np.linspace(0.5, 3.0, questions)
    return Latency(
        ms * lengths * np.exp(noise * np.random.default_rng(seed).normal(size=questions)), 5, group
    )


def test_percentiles_by_hand():
    """1 to 60 ms: the median lies between 30 and 31; below the 95th percentile lie 95% of the 59 steps from 1 to 60."""
    found = Latency(np.arange(60.0, 0.0, -1.0), 5)

    assert found.p50 == 30.5
    assert found.p95 == found.high == pytest.approx(1 + 0.95 * 59)
    # 0.2%: how often the middle of 60 draws lies below 21 (the 30th smallest of them, each below with 20 / 60).
    limits = found.limits(50)
    assert 21 < limits.lo < 26
    assert 35 < limits.hi < 40


def test_few_questions_have_no_95th_percentile():
    """Of 59 questions the limit applies to the slowest, and json says that there is no percentile."""
    found = Latency(np.arange(59.0) + 1, 6)

    assert math.isnan(found.p95)
    assert found.high == 59
    assert found.to_json() | {"p50": None} == {
        "questions": 59, "passes": 6, "p50": None, "p95": None, "slowest": 59.0
    }  # fmt: skip


def test_pairs_show_what_separate_limits_hide():
    """Questions differ sixfold, so that the limits of 10 and 8 ms overlap; each question took 0.8 of the time."""
    one, other = around(8.0, 0.02, seed=1), around(10.0, 0.02, seed=2)
    ratio = one.ratio_to(other)

    assert one.limits(50).hi > other.limits(50).lo
    assert 0.78 < ratio.lo < 0.8 < ratio.hi < 0.82
    assert one.is_lower(other)
    assert not other.is_lower(one)


@pytest.mark.parametrize("noise", [0.0, 0.03, 0.3])
def test_equal_cells_are_equal(noise):
    """The same configuration three times, in 100 measurements: none is lower, whatever the noise of a question.

    With a noise of 30% the mean of 60 ratios is off by 0.3 √2 / √60 = 5.5%: a tenth lower with its upper limit
    is 1.9 + 1.96 standard errors away.
    """
    lower = 0
    for seed in range(100):
        cells = [around(10.0, noise, seed=3 * seed + i) for i in range(3)]
        lower += any(one.is_lower(other) for one in cells for other in cells)

    assert lower == 0


def test_a_constant_difference_of_a_few_percent_is_none():
    """Copies of one object in memory may differ by 5% on every question; limits alone would call that certain."""
    one, other = around(9.5), around(10.0)

    assert one.ratio_to(other).hi < 1
    assert not one.is_lower(other)


def test_a_lower_median_with_a_higher_tail_is_not_lower():
    """Nineteen of twenty questions take half of the time, the others four times as long."""
    one = around(5.0)
    one.ms[-4:] *= 8

    assert one.ratio_to(around(10.0)).hi < 0.9
    assert not one.is_lower(around(10.0))


def test_other_turns_are_not_compared():
    """Cells that were measured at other times have a ratio without limits."""
    ratio = around(5.0).ratio_to(around(10.0, group=1))

    assert (ratio.value, ratio.lo, ratio.hi) == (0.5, None, None)
    assert not around(5.0).is_lower(around(10.0, group=1))
