from __future__ import annotations

import numpy as np
import pytest
from simulated_sweeps import SIZES, recalls, summed

from harness.errors import SettingError
from harness.verdict.optimism import cross_fitted, held_out, lead_shares

SINGLE = SIZES["300 questions, each its own cluster"]


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


def test_lead_shares_are_shares():
    """They sum to 1; equal cells have equal shares, one that always leads has all."""
    rng = np.random.default_rng(2)
    row = (rng.random(80) < 0.6).astype(float)
    shares = lead_shares(np.stack([row, row, np.zeros(80)]), np.ones(80))

    assert shares == pytest.approx([0.5, 0.5, 0.0])
    other = (rng.random(80) < 0.6).astype(float)
    found = lead_shares(np.stack([row, other]), np.ones(80))
    assert found.sum() == pytest.approx(1)
    assert found.argmax() == np.argmax([row.sum(), other.sum()])


def test_a_hold_out_keeps_clusters_together():
    """Questions about one text are all held out or none; about the asked share; more questions move none of those there."""
    labels = [f"doc{i // 4}.md" for i in range(1200)]
    mask = held_out(labels, 0.25)
    more = held_out(labels + [f"new{i}.md" for i in range(40)], 0.25)

    assert 300 <= mask.sum() <= 304
    assert all(len(set(mask[i : i + 4])) == 1 for i in range(0, 1200, 4))
    assert (more[:1200] != mask).mean() < 0.02


@pytest.mark.parametrize(
    ("questions", "fraction", "words"),
    [
        (1000, 0.1, "100 of 1000 questions"),
        (200, 0.99, "others left"),
        (1000, 1.0, "between 0 and 1"),
        (0, 0.5, "0 of 0"),
    ],
)
def test_a_hold_out_that_confirms_nothing_is_refused(questions, fraction, words):
    """Fewer than 200 questions, or all of them: refused, with what to do."""
    with pytest.raises(SettingError, match=words):
        held_out([str(i) for i in range(questions)], fraction)
