"""Whether one configuration has become worse: what is shown, what is not, and how often that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.verdict.change import change, difference_interval


@pytest.mark.parametrize("clusters", [20, 50, 300])
def test_no_change_excludes_what_clopper_and_pearson_exclude(clusters):
    """Of so many clusters none changed: the limits are those of a share of which nothing was seen.

    P(none of n) = (1 - p) ** n is 5% at p = 1 - 0.05 ** (1 / n): 13.9%, 5.8% and 1.0%.
    """
    found = change(np.zeros(2 * clusters), np.repeat(np.arange(clusters), 2), 0.03, 0.01)
    least = 1 - 0.05 ** (1 / clusters)

    assert (found.difference.lo, found.difference.hi) == pytest.approx((-least, least))
    assert found.least_loss == pytest.approx(least)
    assert found.outcome == ("non-inferior" if clusters == 300 else "undecided")


def test_one_gained_and_one_lost_in_the_same_document():
    """A cluster whose sum stays 0 is no special case."""
    differences = np.zeros(100)
    differences[:2] = [1.0, -1.0]
    found = change(differences, np.repeat(np.arange(50), 2), 0.03, 0.01)

    assert (found.better, found.worse, found.difference.value) == (1, 1, 0.0)
    assert found.difference.lo == pytest.approx(-found.difference.hi)


def test_outcomes_follow_the_exact_test_where_few_questions_changed():
    """Of 300: 8 lost is a regression; 8 lost and 2 won is none, 9 lost and 2 won is one.

    Sign test, one-sided at 5%: P(8 of 8) = 0.4%, P(8 or more of 10) = 5.5%, P(9 or more of 11) = 3.3%.
    """
    outcomes = []
    for lost, won in ((8, 0), (8, 2), (9, 2)):
        differences = np.zeros(300)
        differences[:lost], differences[lost : lost + won] = -1.0, 1.0
        outcomes.append(change(differences, np.arange(300), 0.01, 0.01).outcome)

    assert outcomes == ["regression", "undecided", "regression"]


@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0]), min_size=1, max_size=60),
    st.integers(1, 30),
)
def test_any_table_has_an_outcome(values, clusters):
    """No table of differences ends in an exception; limits hold the mean and stay within -1 and 1."""
    differences = np.array(values)
    found = change(differences, np.arange(len(values)) % clusters, 0.03, 0.01)

    if found.difference.lo is None:
        assert found.outcome == "undecided"
    else:
        assert -1 <= found.difference.lo <= found.difference.value <= found.difference.hi <= 1


def test_limits_do_not_jump():
    """A change that shrinks to nothing in a few questions leads to the limits of no change."""
    differences = np.zeros(200)
    unchanged = difference_interval(differences, np.arange(200))
    differences[:3] = -1e-6
    nearly = difference_interval(differences, np.arange(200))

    assert (nearly.lo, nearly.hi) == pytest.approx((unchanged.lo, unchanged.hi), abs=1e-5)


@pytest.mark.parametrize(("questions", "least"), [(50, 0.5), (150, 0.8)])
def test_a_loss_of_ten_points_is_caught(questions, least):
    """12% of the questions lost and 2% gained: a regression in most sweeps, with 150 questions in four of five."""
    rng = np.random.default_rng(3)
    caught = 0
    for _ in range(200):
        drawn = rng.random(questions)
        differences = np.where(drawn < 0.12, -1.0, np.where(drawn < 0.14, 1.0, 0.0))
        caught += change(differences, np.arange(questions), 0.03, 0.01).outcome == "regression"

    assert caught / 200 >= least


def test_a_harmless_change_is_rarely_a_regression():
    """Where 3% are lost and 3% are gained, at most 5% of 400 comparisons find a loss; 33 or fewer in 99.5% of tests."""
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(400):
        drawn = rng.random(50)
        differences = np.where(drawn < 0.03, -1.0, np.where(drawn < 0.06, 1.0, 0.0))
        found += change(differences, np.arange(50), 0.03, 0.01).outcome == "regression"

    assert found <= 33


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


@pytest.mark.parametrize(
    ("questions", "margin", "is_too_small"),
    [
        # One-sided 5%: K = t(0.95, 149) + 0.84162 = 2.49676; 6 questions change: √(0.04 K² / 150 * 8 / 6) = 0.04708.
        (150, 0.05, False),
        (50, 0.10, True),  # √(0.04 * 2.51817² / 50 * 4 / 2) = 0.1007: more than any margin
        (20, 0.10, True),  # what 20 questions do not show may happen in 13.9%
        (1000, 0.02, False),  # √(0.04 * 2.48801² / 1000 * 42 / 40) = 0.0161
    ],
)
def test_the_margin_is_what_so_many_questions_show(questions, margin, is_too_small):
    """It does not depend on the differences; a given one is kept, and is too small where nothing could pass."""
    unchanged, lost = np.zeros(questions), np.where(np.arange(questions) % 5 == 0, -1.0, 0.0)
    found = [change(values, np.arange(questions), None, 0.01) for values in (unchanged, lost)]

    assert [(one.margin, one.is_too_small) for one in found] == [(margin, is_too_small)] * 2
    # G* = 50: nothing excludes less than 1 - 0.05^(1/50) = 0.0582. n_eff = 350 / 1.3, √(0.04 K² / n_eff * 1.186) =
    # 0.0334, of which 0.842 / K = a third is power: 0.0582 + 0.0112 = 0.0693.
    assert change(np.zeros(350), np.arange(350) % 50, None, 0.01)[2:4] == (0.07, False)
    assert change(unchanged, np.arange(questions), 0.001, 0.01).is_too_small == (questions < 3000)
    assert change(lost, np.arange(questions), 0.2, 0.01)[2:4] == (0.2, False)


def test_a_loss_of_the_margin_is_rarely_passed_and_a_harmless_change_mostly():
    """150 questions: 6% lost and 1% gained pass in 5% (20 of 200 or fewer in 99.9%); 2% lost and gained in most cases."""
    rng = np.random.default_rng(5)

    def passed(lost, gained):
        hits = 0
        for _ in range(200):
            drawn = rng.random(150)
            differences = np.where(drawn < lost, -1.0, np.where(drawn < lost + gained, 1.0, 0.0))
            hits += change(differences, np.arange(150), None, 0.01).outcome == "non-inferior"
        return hits

    assert passed(0.06, 0.01) <= 20
    assert passed(0.02, 0.02) >= 140


def test_few_documents_decide_nothing():
    """Nine texts carry no interval, whatever was lost."""
    differences = np.full(90, -0.5) + np.tile([0.1, -0.1], 45)
    found = change(differences, np.repeat(np.arange(9), 10), 0.03, 0.01)

    assert (found.outcome, found.difference.lo, found.required_sample_size) == ("undecided", None, None)


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


def test_no_difference_at_all_is_no_division_by_zero():
    """One question won and one lost, a smallest effect of 0 and a margin that so few can't show: undecided, no fault."""
    differences = np.zeros(40)
    differences[:2] = 0.5, -0.5
    found = change(differences, np.arange(40), 0.03, 0.0)

    assert found.outcome == "undecided"
    assert found.required_sample_size > 40
