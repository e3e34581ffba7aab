from __future__ import annotations

import numpy as np
from simulated_sweeps import paired

from harness.verdict.simultaneous import by_group, inverted, thirds


def test_thirds_by_hand():
    """Nine overlaps in three thirds; equal ones stay together; unknown is a group of its own."""
    assert thirds(np.arange(9.0)) == ["low"] * 3 + ["middle"] * 3 + ["high"] * 3
    assert thirds(np.array([0.5, np.nan, 0.1, 0.9])) == ["middle", "unknown", "low", "high"]
    assert set(thirds(np.full(5, 0.3))) == {"low"}
    assert thirds(np.full(2, np.nan)) == ["unknown", "unknown"]


def test_opposite_signs_that_are_shown():
    """Better where words are shared, worse where they are not: that depends on the wording."""
    rng = np.random.default_rng(1)
    up, down = paired(rng, 1, 150, 0.3, 0.2)[0], paired(rng, 1, 150, 0.3, -0.2)[0]
    differences = np.concatenate([up[0] - up[1], down[0] - down[1]])
    found = by_group(differences, np.arange(300), np.repeat(["high", "low"], 150))

    assert [g.group for g in found.groups] == ["low", "high"]
    assert [g.questions for g in found.groups] == [150, 150]
    assert found.groups[0].difference.hi < 0 < found.groups[1].difference.lo
    assert found.changes_sign


def test_opposite_signs_that_may_be_chance():
    """Equal cells differ in sign between groups all the time; that is not called a dependence."""
    rng, different, named = np.random.default_rng(2), 0, 0
    for first, second in paired(rng, 100, 150, 0.15, 0.0):
        found = by_group(first - second, np.arange(150), np.resize(["a", "b", "c"], 150))
        signs = {np.sign(g.difference.value) for g in found.groups}
        different += {1.0, -1.0} <= signs
        named += found.changes_sign

    assert different > 40
    assert named <= 1


def test_groups_too_small_to_speak():
    """A group of nine questions has a difference and no limits."""
    differences = np.concatenate([np.ones(9), -np.ones(41)])
    found = by_group(differences, np.arange(50), ["few"] * 9 + ["many"] * 41)

    assert found.groups[0].difference.lo is None
    assert not found.changes_sign


def test_rounding_moves_no_limit_past_the_mean():
    """Differences between 1 and a ten-millionth less: their squares cancel to the last digit."""
    for seed in range(40):
        differences, sizes = 1 - np.random.default_rng(seed).random(24) * 1e-7, np.ones(24)
        total, squares = differences.sum(), (differences**2).sum()
        lo, hi = inverted(total, squares, total, sizes, 2.0)

        assert lo <= total / 24 <= hi
