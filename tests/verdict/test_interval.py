from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from simulated_sweeps import SIZES, recalls

from harness.verdict.interval import clopper_pearson, cr2, mean_intervals


def brute_force_cr2(values, clusters):
    """CR2 and Satterthwaite's degrees by the matrices of Pustejovsky & Tipton (2018), for a regression on a constant."""
    count = len(values)
    design = np.ones((count, 1))
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    residual = values - values.mean()
    meat, columns = 0.0, []
    for cluster in np.unique(clusters):
        inside = clusters == cluster
        block = np.eye(inside.sum()) - hat[np.ix_(inside, inside)]
        eigenvalues, vectors = np.linalg.eigh(block)
        adjust = vectors @ np.diag(eigenvalues**-0.5) @ vectors.T
        ones = np.ones(inside.sum())
        meat += float(ones @ adjust @ residual[inside]) ** 2
        columns.append((np.eye(count) - hat)[:, inside] @ adjust @ ones / count)
    gram = np.stack(columns).dot(np.stack(columns).T)
    return np.sqrt(meat) / count, np.trace(gram) ** 2 / (gram**2).sum()


@pytest.mark.parametrize("seed", range(5))
def test_cr2_agrees_with_the_matrices(seed):
    """The closed form for a mean is what inverse square roots of matrices give."""
    rng = np.random.default_rng(seed)
    clusters = np.sort(rng.integers(0, 14, size=90))
    values = rng.random(90) + 0.3 * (clusters % 3)
    sizes = np.unique(clusters, return_counts=True)[1].astype(float)
    sums = np.array([values[clusters == c].sum() for c in np.unique(clusters)])

    error, degrees = brute_force_cr2(values, clusters)
    robust = cr2(sums, sizes)

    assert robust.error == pytest.approx(error, rel=1e-9)
    assert robust.degrees == pytest.approx(degrees, rel=1e-9)


def test_cr2_of_single_questions_is_students_t():
    """With one question a cluster, error, degrees and limits are those of the ordinary t interval."""
    values = np.random.default_rng(1).normal(0.5, 1.0, size=20)
    interval = mean_intervals(values[None, :], np.arange(20))[0]
    expected = stats.t.interval(0.95, 19, values.mean(), stats.sem(values))

    assert (interval.lo, interval.hi) == pytest.approx(expected, rel=1e-9)


def test_bootstrap_t_agrees_with_a_plain_one():
    """Sums of products give the limits that resampling one by one gives."""
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 6, size=45)
    clusters = np.repeat(np.arange(45), sizes)
    values = rng.gamma(1.0, 1.0, size=len(clusters)) + 0.5 * rng.random(45)[clusters]
    parts = [values[clusters == c] for c in range(45)]
    mean = values.mean()

    def error_of(pieces):
        together = np.concatenate(pieces)
        return np.sqrt(sum((p - together.mean()).sum() ** 2 for p in pieces)) / len(together)

    drawn = []
    for _ in range(4000):
        pieces = [parts[i] for i in rng.integers(0, 45, size=45)]
        drawn.append((np.concatenate(pieces).mean() - mean) / error_of(pieces))
    low, high = np.quantile(drawn, [0.025, 0.975])
    interval = mean_intervals(values[None, :], clusters)[0]
    error = error_of(parts)

    assert interval.lo == pytest.approx(mean - high * error, abs=0.15 * error)
    assert interval.hi == pytest.approx(mean - low * error, abs=0.15 * error)


def test_limits_agree_with_scipy_on_single_questions():
    """On symmetric, unclustered values the limits are those of scipy's BCa bootstrap and of Student's t."""
    values = np.random.default_rng(3).normal(size=200)
    interval = mean_intervals(values[None, :], np.arange(200))[0]
    other = stats.bootstrap(
        (values,), np.mean, n_resamples=9999, rng=np.random.default_rng(4)
    ).confidence_interval

    assert (interval.lo, interval.hi) == pytest.approx((other.low, other.high), abs=0.15 * stats.sem(values))


def test_limits_depend_on_nothing_else():
    """A cell's limits are the same whatever other cells there are, and in whatever order its questions come."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(60), SIZES["300 questions in 60 unequal clusters"])
    rows = recalls(rng, 3, SIZES["300 questions in 60 unequal clusters"], np.array([0.8]))[:, 0]
    shuffled = rng.permutation(len(clusters))
    together = mean_intervals(rows, clusters)

    assert mean_intervals(rows[1:2], clusters)[0] == together[1]
    other = mean_intervals(rows[:, shuffled], 100 - clusters[shuffled])[1]
    assert (other.lo, other.hi) == pytest.approx((together[1].lo, together[1].hi), abs=1e-12)


def test_few_clusters_no_limits():
    """Below ten effective clusters there is a mean and nothing else."""
    interval = mean_intervals(np.random.default_rng(0).random((1, 90)), np.repeat(np.arange(9), 10))[0]

    assert interval.value is not None
    assert interval.lo is None
    assert interval.hi is None


@pytest.mark.parametrize("all_are", [0.0, 1.0])
def test_constant_scores(all_are):
    """50 of 50 is not certainty: 0.025 ** (1 / 50) = 0.929; and a constant that is no bound says nothing."""
    interval = mean_intervals(np.full((1, 50), all_are), np.arange(50))[0]

    wanted = (0.025 ** (1 / 50), 1.0) if all_are else (0.0, 1 - 0.025 ** (1 / 50))
    assert (interval.lo, interval.hi) == pytest.approx(wanted)
    assert mean_intervals(np.full((1, 50), 0.3), np.arange(50))[0].lo is None
    assert mean_intervals(np.full((1, 50), all_are), np.arange(50), share=False)[0].lo is None


def test_limits_of_a_share_stay_inside():
    """Four misses in 200: a share's limits do not pass 1, a difference's may."""
    values = np.ones((1, 200))
    values[0, :4] = 0.0
    interval = mean_intervals(values, np.arange(200))[0]
    exact = clopper_pearson(0.98, 200, 0.05)

    assert exact[0] <= interval.lo < 0.98 < interval.hi <= exact[1] < 1


def test_limits_hold_a_share_that_is_not_quite_one():
    """One question of 50 lacks a millionth: Jeffreys' upper limit for 50 draws, .99999, lies below the share."""
    values = np.ones((1, 50))
    values[0, 7] -= 1e-6
    interval = mean_intervals(values, np.arange(50))[0]

    assert stats.beta.ppf(0.975, 50.5, 0.5) < interval.value == pytest.approx(1 - 2e-8, abs=1e-12)
    assert interval.lo == pytest.approx(stats.beta.ppf(0.025, 50.5, 0.5), abs=1e-4)
    assert interval.hi == interval.value


@pytest.mark.parametrize("share", [(0, 10), (3, 10), (10, 10)])
def test_clopper_pearson_is_scipys(share):
    """Exact limits of whole numbers agree with scipy's binomial test."""
    hits, draws = share
    wanted = stats.binomtest(hits, draws).proportion_ci()

    assert clopper_pearson(hits / draws, draws, 0.05) == pytest.approx((wanted.low, wanted.high))


@pytest.mark.parametrize("name", list(SIZES))
def test_limits_hold_the_mean(name):
    """95% limits hold the true mean of made-up recalls in 93 to 97% of sweeps, give or take chance."""
    sizes, mean, sweeps = SIZES[name], 0.8, 400
    rows = recalls(np.random.default_rng(6), sweeps, sizes, np.array([mean]))[:, 0]
    held = sum(i.lo <= mean <= i.hi for i in mean_intervals(rows, np.repeat(np.arange(len(sizes)), sizes)))

    # Of 400 sweeps at 93 .. 97%, 99.9% give 352 .. 397 (binomial).
    assert stats.binom.ppf(0.001, sweeps, 0.93) <= held <= stats.binom.ppf(0.999, sweeps, 0.97)
