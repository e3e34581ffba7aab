from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats
from simulated_sweeps import SIZES, paired, recalls, summed

from harness.verdict.best_set import best_set
from harness.verdict.pairs import compare
from harness.verdict.sign_tests import exact_p, holm

QUICK = {"looks": 1, "first": 2000}
SINGLE = SIZES["300 questions, each its own cluster"]
# Each of 200 simulated sweeps errs with 5% at most: more than 20 errors have a chance of 0.2% (binomial).
SWEEPS, MOST = 200, 20


def enumerated(differences):
    """One-sided sign-flip p by trying all patterns."""
    flips = np.array(list(itertools.product([1, -1], repeat=len(differences))))
    return np.mean(flips @ np.abs(differences) >= differences.sum() - 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_exact_p_agrees_with_all_patterns(seed):
    """Meeting in the middle counts what enumeration counts."""
    rng = np.random.default_rng(seed)
    differences = rng.choice([-1.0, -0.5, 0.25, 0.5, 1.0], size=int(rng.integers(1, 13)))

    assert exact_p(differences) == pytest.approx(enumerated(differences))


def test_exact_p_is_scipys_permutation_test():
    """The exact p is that of scipy's paired permutation test, and the sign test's where all differences are equal."""
    differences = np.array([0.5, 1.0, -0.25, 0.75, 0.5, -0.5, 1.0, 0.25])
    found = stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", alternative="greater", n_resamples=np.inf
    )

    assert exact_p(differences) == pytest.approx(found.pvalue)
    assert exact_p(np.repeat([1.0, -1.0], [9, 3])) == pytest.approx(
        stats.binomtest(9, 12, alternative="greater").pvalue
    )


def test_exact_p_at_its_ends():
    """Nothing differs: 1. Too much differs: refused."""
    assert exact_p(np.zeros(5)) == 1.0
    with pytest.raises(ValueError, match="41 clusters differ"):
        exact_p(np.ones(41))


def test_holm_by_hand():
    """0.01 * 3, then 0.02 * 2, then 0.04 * 1 raised to 0.04; in the order given."""
    assert holm(np.array([0.04, 0.01, 0.02])) == pytest.approx([0.04, 0.03, 0.04])


def test_two_cells_are_the_paired_sign_flip_test():
    """With two cells p is the two-sided sign-flip p, here close to the paired t test's."""
    rng = np.random.default_rng(1)
    first = rng.normal(0.55, 1, size=60)
    second = first + rng.normal(-0.2, 0.8, size=60)
    found = best_set(np.stack([first, second]), np.ones(60))
    flips = stats.permutation_test(
        (first - second,),
        np.mean,
        permutation_type="samples",
        n_resamples=20000,
        rng=np.random.default_rng(2),
    )

    assert found.p[1] == pytest.approx(flips.pvalue, abs=0.006)
    assert found.p[1] == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.01)


def test_limits_of_two_cells_are_the_paired_t_limits():
    """With two cells and symmetric differences the limits are Student's."""
    rng = np.random.default_rng(3)
    first = rng.normal(size=200)
    second = first - np.concatenate([d := rng.normal(0.5, 1, size=100), 1.0 - d])
    found = best_set(np.stack([first, second]), np.ones(200))
    wanted = stats.ttest_rel(first, second).confidence_interval(0.95)

    assert (found.lo[0], found.hi[0]) == pytest.approx((wanted.low, wanted.high), abs=0.01)
    assert (-found.hi[1], -found.lo[1]) == pytest.approx((wanted.low, wanted.high), abs=0.01)


def test_pairs_by_hand():
    """Three clusters of 1, 2 and 1 questions, sums worked out."""
    pairs = compare(np.array([[1.0, 2.0, 0.0], [0.0, 2.0, 1.0]]), np.array([1.0, 2.0, 1.0]))

    # D = (1, 0, -1): Σ D = 0, Σ D² = 2, and as only two clusters differ, two more of the usual square 1; Σ n D = 1 - 1
    assert pairs.total[0, 1] == 0
    assert pairs.squares[0, 1] == pytest.approx(4.0)
    assert pairs.weighted[0, 1] == 0
    assert pairs.differing[0, 1] == 2


def test_limits_and_decisions_agree():
    """A cell is ruled out exactly where its limits lie below 0, and only a winner's lie above."""
    rng = np.random.default_rng(4)
    for sums in summed(recalls(rng, 20, SINGLE, np.linspace(0.6, 0.85, 6)), SINGLE):
        found = best_set(sums, SINGLE.astype(float), **QUICK)
        difference = np.array(
            [m - np.delete(sums.mean(axis=1), i).max() for i, m in enumerate(sums.mean(axis=1))]
        )

        assert (found.ruled_out == (found.hi < 0)).all()
        assert ((found.lo <= difference) & (difference <= found.hi)).all()
        assert not found.ruled_out[sums.sum(axis=1).argmax()]
        if found.winner is not None:
            assert found.lo[found.winner] > 0
            assert found.ruled_out.sum() == len(sums) - 1


def test_few_differing_clusters_need_an_exact_test():
    """Five questions won and none lost (p = 1/32) rule nothing out, seven (1/128) do."""
    sums = np.zeros((2, 300))
    sums[0, :5] = 1.0
    assert best_set(sums, np.ones(300)).winner is None
    sums[0, :7] = 1.0
    assert best_set(sums, np.ones(300)).winner == 0


def test_an_equal_third_cell_hinders_the_winner_only():
    """Two cells with equal sums are never told apart, however far both lie above a third."""
    rng = np.random.default_rng(5)
    good = (rng.random(200) < 0.9).astype(float)
    found = best_set(np.stack([good, good, good * (rng.random(200) < 0.7)]), np.ones(200), **QUICK)

    assert found.ruled_out.tolist() == [False, False, True]
    assert found.winner is None


def test_twelve_equal_cells():
    """Of twelve equal cells hardly ever any is ruled out, and hardly ever one is declared the winner."""
    rng, ruled_out, sole = np.random.default_rng(6), 0, 0
    sizes = SIZES["300 questions in 60 unequal clusters"]
    for sums in summed(recalls(rng, SWEEPS, sizes, np.full(12, 0.75)), sizes):
        found = best_set(sums, sizes.astype(float), **QUICK)
        ruled_out += bool(found.ruled_out.any())
        sole += bool(found.lo.max() > 0)

    assert ruled_out <= MOST
    assert sole <= MOST


def test_a_winner_need_not_win_by_the_joint_test():
    """A cell 10 points above five others, with 150 questions: at least three sweeps of five name it.

    The joint test alone, which takes account of all cells, named it in less than half of the sweeps. Then all others
    are ruled out, and its lower limit lies above 0.
    """
    rng, sizes = np.random.default_rng(8), np.maximum(np.round(5.4 * 0.97 ** np.arange(60)), 1)
    named = []
    for sums in summed(recalls(rng, 60, sizes.astype(int), np.array([0.85] + [0.75] * 5)), sizes.astype(int)):
        found = best_set(sums, sizes, **QUICK)
        named.append(found.winner == 0)
        if found.winner is not None:
            assert found.ruled_out.sum() == 5
            assert found.lo[found.winner] > 0

    assert np.mean(named) >= 0.6


def test_two_equal_cells():
    """Where both are the best, neither is named the winner in more than 5% of sweeps."""
    rng = np.random.default_rng(7)
    sole = sum(
        best_set(values, np.ones(300), **QUICK).lo.max() > 0 for values in paired(rng, SWEEPS, 300, 0.15, 0.0)
    )

    assert sole <= MOST


def test_the_better_of_two_is_named():
    """Eight points on 300 questions, differing on 15%, are named in four sweeps of five or more."""
    rng = np.random.default_rng(8)
    named = sum(
        best_set(values, np.ones(300), **QUICK).lo[0] > 0 for values in paired(rng, SWEEPS, 300, 0.15, 0.08)
    )

    assert named >= 0.8 * SWEEPS


def test_no_worse_is_not_claimed_at_the_margin():
    """A cell exactly three points below the best is rarely shown to lie less than three below; nor is any of eleven."""
    rng = np.random.default_rng(9)
    for means in ([0.78, 0.75], [0.78] + [0.75] * 11):
        values = summed(recalls(rng, SWEEPS, SINGLE, np.array(means)), SINGLE)
        wrong = sum(best_set(sums, np.ones(300), **QUICK).non_inferior(0.03)[1:].any() for sums in values)

        assert wrong <= MOST


def test_no_worse_is_shown_where_the_data_carry_it():
    """Two cells that differ on few of 2,000 questions are both non-inferior; on 60 questions nothing is shown."""
    rng = np.random.default_rng(10)
    many = paired(rng, 1, 2000, 0.05, 0.0)[0]

    assert best_set(many, np.ones(2000)).non_inferior(0.03).all()
    assert not best_set(many[:, :60], np.ones(60)).non_inferior(0.03).any()


def test_a_selected_best_gives_nobody_a_bound():
    """No worse than the best means than every other cell: one strong rival is enough against it."""
    rng = np.random.default_rng(11)
    first, second = paired(rng, 1, 1000, 0.04, 0.0)[0]
    third = np.where(rng.random(1000) < 0.3, 1.0, first)

    assert best_set(np.stack([first, second]), np.ones(1000)).non_inferior(0.03).all()
    assert best_set(np.stack([first, second, third]), np.ones(1000)).non_inferior(0.03).tolist() == [
        False,
        False,
        True,
    ]


def test_rare_large_losses_rule_out_no_rival():
    """Many small wins against few total losses, equal on average: the rival isn't ruled out more often than promised."""
    rng, wrong = np.random.default_rng(12), 0
    for _ in range(SWEEPS):
        draws = rng.random(200)
        first = np.where(draws < 0.06, 0.0, np.where(draws < 0.36, 1.0, 0.8))
        found = best_set(np.stack([first, np.where(draws < 0.06, 1.0, 0.8)]), np.ones(200), **QUICK)
        wrong += bool(found.ruled_out.any())

    assert wrong <= MOST


def test_limits_reach_further_where_rare_losses_hide():
    """Few total losses against many small wins: the limit on the side of the losses lies further out, by Johnson's shift."""
    first = np.concatenate([np.zeros(10), np.full(60, 1.0), np.full(130, 0.8)])
    second = np.concatenate([np.ones(10), np.full(190, 0.8)])
    found = best_set(np.stack([first, second]), np.ones(200))
    apart = first - second
    # s γ (1 + 2 * 1.97²) / (6 √200), s = sd / √200
    shift = stats.sem(apart) * abs(stats.skew(apart)) * (1 + 2 * 1.97**2) / (6 * np.sqrt(200))
    down, up = apart.mean() - found.lo[0], found.hi[0] - apart.mean()

    assert stats.skew(apart) < -2
    assert down - up == pytest.approx(shift, rel=0.15)
