"""Whether one configuration has become worse: what is shown, what is not, and how often that is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from harness.verdict.change import change, difference_interval


def test_equal_results_are_no_worse():
    """Nothing changed on any question: no interval is needed to see that."""
    found = change(np.zeros(40), np.arange(40), 0.03, 0.01)

    assert found.outcome == "non-inferior"
    assert (found.difference.lo, found.difference.hi) == (0.0, 0.0)


def test_a_large_loss_is_a_regression():
    """A fifth of the questions lost, each about a text of its own."""
    differences = np.where(np.arange(100) % 5 == 0, -1.0, 0.0)
    found = change(differences, np.arange(100), 0.03, 0.01)

    assert (found.outcome, found.worse, found.better) == ("regression", 20, 0)
    assert found.difference.value == pytest.approx(-0.2)


def test_a_sure_loss_that_is_too_small_to_matter_is_no_regression():
    """All lose a thousandth: certain, and of no importance."""
    rng = np.random.default_rng(1)
    differences = -0.001 + rng.normal(0, 0.0001, 200)

    assert change(differences, np.arange(200), 0.0001, 0.01).outcome == "undecided"


def test_few_documents_decide_nothing():
    """Nine texts carry no interval, whatever was lost."""
    differences = np.full(90, -0.5) + np.tile([0.1, -0.1], 45)
    found = change(differences, np.repeat(np.arange(9), 10), 0.03, 0.01)

    assert (found.outcome, found.difference.lo, found.required_sample_size) == ("undecided", None, None)


def test_limits_where_few_clusters_changed_by_hand():
    """Two of fifty clusters lose one of their four questions each.

    Clopper and Pearson's limits of 2 of 50 are 0.49% and 13.71% (P(X >= 2) and P(X <= 2) are 0.025 there), the upper one of none of 50 is
    7.11% (0.975 = 1 - 0.025 is left of 1 at 1 - 0.025 ** (1 / 50)). A cluster that changes changes by a quarter. So the loss lies between 0.12 and
    3.43 points, the gain between 0 and 1.78.
    """
    differences = np.zeros(200)
    differences[[0, 4]] = -1.0
    interval = difference_interval(differences, np.repeat(np.arange(50), 4))

    assert interval.value == pytest.approx(-0.01)
    assert interval.lo == pytest.approx(-0.1371 / 4, abs=1e-4)
    assert interval.hi == pytest.approx((1 - 0.025 ** (1 / 50)) / 4 - 0.00488 / 4, abs=1e-4)


def test_questions_needed_shrink_the_interval_to_the_margin():
    """Widths fall with the root of the number: so many questions bring the lower limit to the margin."""
    rng = np.random.default_rng(2)
    differences = rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.9, 0.05], size=150)
    found = change(differences, np.arange(150), 0.03, 0.01)
    assert found.outcome == "undecided"
    assert found.required_sample_size is not None
    width = found.difference.value - found.difference.lo

    assert width * np.sqrt(150 / found.required_sample_size) == pytest.approx(
        0.03 + found.difference.value, rel=0.01
    )


@pytest.mark.parametrize(
    ("clusters", "per_cluster", "loss", "gain"),
    [(50, 4, 0.03, 0.0), (50, 4, 0.05, 0.02), (30, 5, 0.06, 0.03)],
)
def test_a_loss_of_the_margin_is_rarely_called_no_worse(clusters, per_cluster, loss, gain):
    """With a true loss of 3 points, "non-inferior" by 3 points is an error: in at most 5% of cases.

    200 simulated comparisons each; 18 or fewer of 200 is what 5% gives in 99.5% of such tests.
    """
    rng = np.random.default_rng(7)
    which = np.repeat(np.arange(clusters), per_cluster)
    wrong = 0
    for _ in range(200):
        drawn = rng.random(len(which))
        differences = np.where(drawn < loss, -1.0, np.where(drawn < loss + gain, 1.0, 0.0))
        wrong += change(differences, which, 0.03, 0.01).outcome == "non-inferior"

    assert wrong <= 18
