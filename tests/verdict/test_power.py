from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats
from simulated_sweeps import SIZES, paired, recalls, summed

from harness.verdict.best_set import best_set
from harness.verdict.power import (
    LEVEL,
    cross_fitted,
    demonstrable_margin,
    level_after_growth,
    minimum_detectable_effect,
    readable_margin,
    required_sample_size,
)

SINGLE = SIZES["300 questions, each its own cluster"]


def found(rng, questions, discordance, difference, sweeps=4000):
    """Share of simulated pairs whose paired t test finds the better cell at 2.5%."""
    won, lost = (discordance + difference) / 2, (discordance - difference) / 2
    draws = rng.random((sweeps, questions))
    differences = (draws < won).astype(float) - ((draws >= won) & (draws < won + lost))
    tested = stats.ttest_1samp(differences, 0.0, axis=1, alternative="greater")
    return float(np.mean(tested.pvalue <= 0.025))


@pytest.mark.parametrize("questions", [100, 150, 300, 472])
def test_a_detectable_difference_is_found_in_four_of_five(questions):
    """What the check before a sweep announces is what the verdict then finds."""
    difference = minimum_detectable_effect(questions, questions)

    assert difference is not None
    rng, sweeps = np.random.default_rng(questions), 300
    named = sum(
        best_set(values, np.ones(questions), looks=1, first=2000).lo[0] > 0
        for values in paired(rng, sweeps, questions, 0.15, difference)
    )
    # 300 sweeps: the standard error is 0.023; at 15 questions that differ, the exact test's steps are coarse.
    assert named / sweeps == pytest.approx(0.8, abs=0.08)


def test_detectable_by_hand():
    """The formula, worked: 300 questions, each its own cluster."""
    # t(0.975, 299) = 1.96793, z(0.8) = 0.84162: K² = 7.89335; 45 questions differ: u = K² / 300 * 47 / 45 = 0.0274806
    # δ² = 0.15 * u / (1 + u) = 0.00401184, δ = 0.0633391
    assert minimum_detectable_effect(300, 300) == pytest.approx(0.063339, abs=2e-6)


@pytest.mark.parametrize(
    ("questions", "smallest", "margin"),
    [
        # t(0.975, 149) = 1.97601: K² = 7.93904; 22.5 questions differ: u = K² / 150 * 24.5 / 22.5 = 0.0576315
        (150, 0.092977, 0.10),
        (300, 0.064204, 0.07),  # u as above: √(0.15 * 0.0274806)
        # t(0.975, 399) = 1.96593: K² = 7.88234; 60 differ: u = K² / 400 * 62 / 60 = 0.0203627
        (400, 0.055267, 0.06),
    ],
)
def test_the_margin_that_can_be_shown_by_hand(questions, smallest, margin):
    """√(0.15 u), rounded up to a number that people say."""
    found = demonstrable_margin(questions, questions)

    assert found == pytest.approx(smallest, abs=2e-6)
    assert readable_margin(found) == margin


def test_margins_end_at_ten_points():
    """Too few questions show nothing small, and get the largest margin; many get a point."""
    assert readable_margin(demonstrable_margin(50, 50)) == 0.1
    assert readable_margin(demonstrable_margin(1, 1)) == readable_margin(demonstrable_margin(0, 0)) == 0.1
    assert readable_margin(demonstrable_margin(20_000, 20_000)) == 0.01
    assert readable_margin(0.03) == 0.03


def test_an_equal_cell_keeps_the_margin_in_four_of_five_and_a_worse_one_does_not():
    """150 questions: what is equal is shown to be, mostly; what loses the margin is, in 2.5% (13 of 200 or fewer in 99.5%)."""
    margin, rng = readable_margin(demonstrable_margin(150, 150)), np.random.default_rng(31)

    def shown(difference, sweeps=200):
        return sum(
            best_set(values, np.ones(150), looks=1, first=2000).lo[1] > -margin
            for values in paired(rng, sweeps, 150, 0.15, difference)
        )

    assert shown(0.0) >= 0.75 * 200
    assert shown(margin) <= 13


def test_levels_of_later_looks_by_hand():
    """2 (1 - Φ(a) + a φ(a)) = 5% gives a = 2.7955; with twice the questions z² = 7.8148 + 0.6931, z = 2.9168, 0.177%."""
    a = stats.norm.isf(level_after_growth(1 + 1e-12))

    assert 2 * (stats.norm.sf(a) + a * stats.norm.pdf(a)) == pytest.approx(0.05, abs=2e-5)
    assert level_after_growth(1) == LEVEL == 0.025
    assert level_after_growth(2) == pytest.approx(0.0017680, abs=1e-7)
    assert level_after_growth(8) < level_after_growth(2)


def test_looks_until_separated_stay_within_five_percent():
    """Normal sums, looked at 50 times while they grow eightfold: later looks err in 5% of series, not in a third."""
    growth = np.linspace(1, 8, 50)
    steps = np.sqrt(np.diff(growth, prepend=0.0))
    draws = np.random.default_rng(33).standard_normal((4000, 50))
    z = np.abs((draws * steps).cumsum(axis=1)) / np.sqrt(growth)
    critical = np.array([stats.norm.isf(level_after_growth(g)) for g in growth])

    assert (z[:, 1:] > critical[1:]).any(axis=1).mean() <= 0.05
    assert (z > critical).any(axis=1).mean() <= 0.07  # with the first look's own 5%
    assert (z > 1.96).any(axis=1).mean() > 0.15


def test_more_questions_and_fewer_clusters():
    """More questions show smaller differences; clustering asks for larger ones."""
    assert (
        minimum_detectable_effect(600, 600)
        < minimum_detectable_effect(300, 300)
        < minimum_detectable_effect(300, 60)
    )


@pytest.mark.parametrize(("questions", "clusters"), [(0, 0), (1, 1), (300, 9), (12, 12)])
def test_nothing_is_detectable(questions, clusters):
    """Too few clusters, or too few questions on which two cells can differ: None, not a number."""
    assert minimum_detectable_effect(questions, clusters) is None


def test_questions_needed_are_enough():
    """So many questions separate two cells that differ as observed in about four of five."""
    differences = np.repeat([1.0, -1.0, 0.0], [25, 15, 160])  # +0.05 at discordance 0.2
    needed = required_sample_size(differences, np.arange(200))

    # K² * (0.2 - 0.0025) * (200/199) / 0.0025, K² = (1.97196 + 0.84162)²
    assert needed == pytest.approx((1.97196 + 0.84162) ** 2 * 0.1975 * 200 / 199 / 0.0025, abs=2)
    assert found(np.random.default_rng(1), needed, 0.2, 0.05) == pytest.approx(0.8, abs=0.04)


def test_questions_needed_in_clusters():
    """Questions that repeat one another count once: with each asked twice, twice as many are needed."""
    differences = np.repeat([1.0, -1.0, 0.0], [25, 15, 160])
    once = required_sample_size(differences, np.arange(200))
    twice = required_sample_size(np.repeat(differences, 2), np.repeat(np.arange(200), 2))

    assert once is not None
    assert twice == pytest.approx(2 * once, abs=2)


@pytest.mark.parametrize(
    "differences", [np.zeros(0), np.zeros(50), np.repeat([1.0, -1.0], 20), np.eye(1, 50)[0]]
)
def test_no_number_of_questions(differences):
    """Equal cells, cells equal on average, or one question that differs: no number is made up."""
    assert required_sample_size(differences, np.arange(len(differences))) is None


def test_error_of_questions_needed_is_the_clustered_one():
    """With unequal clusters the error is the root of the sum of squared cluster residuals."""
    differences = np.array([0.5, 1.0, 0.0, 0.0, -0.5, 1.0])
    clusters = np.array([0, 0, 1, 2, 2, 3])
    # mean 1/3; residual sums 1.5-2/3, -1/3, -0.5-2/3, 1-1/3: squares .69444 + .11111 + 1.36111 + .44444 = 2.61111
    error = sqrt(2.6111111 * 4 / 3) / 6
    critical = stats.t.isf(0.025, 3.6 - 1) + stats.norm.isf(0.2)  # G* = 36 / (4 + 1 + 4 + 1)

    assert required_sample_size(differences, clusters) == int(np.ceil(6 * (critical * error * 3) ** 2))


def test_the_best_of_twelve_equal_cells_looks_better_than_it_is():
    """The best observed lies some points above the truth; the cross-fitted score doesn't, on average over sweeps."""
    rng, best, expected = np.random.default_rng(1), [], []
    for sums in summed(recalls(rng, 200, SINGLE, np.full(12, 0.75)), SINGLE):
        best.append(sums.mean(axis=1).max())
        expected.append(cross_fitted(sums, np.ones(300), repeats=10).score)

    # The standard error of a mean of 200 scores is 0.002.
    assert np.mean(best) - 0.75 > 0.015
    assert np.mean(expected) == pytest.approx(0.75, abs=0.008)


def test_a_clear_choice_has_no_optimism():
    """Where the same cell is chosen in every fold, its score is to be expected."""
    sums = np.stack([np.ones(40), np.zeros(40)])

    assert cross_fitted(sums, np.ones(40)) == (1.0, 0.0)


def test_cross_fitting_by_hand():
    """Two cells, ten clusters of one question, ten folds: leaving out one question at a time."""
    # a answers 1-5, b answers 6-10: without a question of a's, b leads 5 to 4 and misses that question; so always 0.
    sums = np.stack([np.repeat([1.0, 0.0], 5), np.repeat([0.0, 1.0], 5)])

    assert cross_fitted(sums, np.ones(10)).score == 0.0
