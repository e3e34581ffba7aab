from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.verdict.clusters import bootstrap_weights, seed_of, sign_flips
from harness.verdict.sign_tests import RISK, step_down


def normal(seed, units=1):
    """Draws of independent standard normal statistics."""
    rng = np.random.default_rng(seed)
    return lambda resamples: rng.standard_normal((resamples, units))


def test_p_is_that_of_the_statistic():
    """The p comes near the tail of the distribution that is drawn from."""
    found = step_down(normal(1), np.array([1.2]), 0.05)

    assert found.p[0] == pytest.approx(stats.norm.sf(1.2), abs=0.01)


def test_clear_cases_take_one_look_and_close_ones_more():
    """Resamples are added only where the threshold lies inside the Monte Carlo interval, and not for ever."""
    for statistic, looks in ((0.0, 1), (5.0, 1), (stats.norm.isf(0.0505), 5)):
        asked = []
        draw = normal(2)
        found = step_down(
            lambda n, draw=draw, asked=asked: asked.append(n) or draw(n), np.array([statistic]), 0.05
        )

        assert len(asked) == looks
        assert sum(asked) == 10_000 * 2 ** (looks - 1)
        assert found.settled[0] == (looks == 1)


def test_what_is_decided_does_not_flip():
    """Among statistics close to the threshold none is decided one way by one seed and the other way by another."""
    for statistic in stats.norm.isf(np.linspace(0.045, 0.055, 11)):
        decided = {
            bool(found.rejected[0])
            for found in (step_down(normal(seed), np.array([statistic]), 0.05) for seed in range(5))
            if found.settled[0]
        }

        assert len(decided) <= 1
    assert RISK == 0.001


def test_steps_are_those_of_romano_and_wolf():
    """After the largest is rejected, the next is compared with the largest of the rest only."""
    # The largest of three standard normals exceeds 2.12 with 5%, of two 1.95, one alone 1.645.
    found = step_down(normal(3, units=3), np.array([2.5, 2.03, 0.5]), 0.05)
    assert found.rejected.tolist() == [True, True, False]
    # The critical value stays that of the last step with two.
    assert found.critical == pytest.approx(stats.norm.isf(1 - 0.95**0.5), abs=0.06)
    assert found.p[1] == pytest.approx(1 - stats.norm.cdf(2.03) ** 2, abs=0.006)

    stuck = step_down(normal(4, units=3), np.array([2.0, 2.0, 1.8]), 0.05)
    assert not stuck.rejected.any()
    assert stuck.critical == pytest.approx(stats.norm.isf(1 - 0.95 ** (1 / 3)), abs=0.06)
    assert (np.diff(found.p) >= 0).all()


def test_own_critical_values():
    """Every unit's own critical value is exceeded by half of the level."""
    found = step_down(normal(5, units=2), np.array([0.0, 0.0]), 0.05)

    assert found.alone == pytest.approx([stats.norm.isf(0.025)] * 2, abs=0.08)


def test_equal_statistics_count_as_exceeding():
    """Where one statistic is all that can come, p is 1 and nothing is rejected."""
    found = step_down(lambda n: np.ones((n, 1)), np.array([1.0]), 0.05)

    assert found.p[0] == 1.0
    assert not found.rejected[0]


def test_a_bootstrap_draws_as_many_clusters_as_there_are():
    """Every row of weights sums to the number of clusters, and every cluster comes once on average."""
    weights = np.concatenate(list(bootstrap_weights(np.random.default_rng(0), 700, 5000)))

    assert weights.shape == (5000, 700)
    assert (weights.sum(axis=1) == 700).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(700), abs=0.08)
    assert weights.var() == pytest.approx(1 - 1 / 700, abs=0.01)


def test_signs_are_fair():
    """Signs are +1 and -1 in equal shares, independent between clusters."""
    flips = np.concatenate(list(sign_flips(np.random.default_rng(0), 37, 9000)), axis=1)

    assert flips.shape == (37, 9000)
    assert set(np.unique(flips)) == {-1.0, 1.0}
    assert np.abs(np.corrcoef(flips) - np.eye(37)).max() < 0.05


def test_the_seed_is_the_data():
    """The same numbers give the same seed; another number, or another shape, another."""
    data = np.arange(6.0)

    assert seed_of(data) == seed_of(data + 1e-12) == seed_of(np.arange(6.0) * 1.0)
    assert len({seed_of(data), seed_of(data.reshape(2, 3)), seed_of(data + 1e-6), seed_of(data, data)}) == 4
    assert seed_of(np.array([0.0])) == seed_of(np.array([-0.0]))
