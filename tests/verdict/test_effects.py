from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from simulated_sweeps import SIZES, recalls

from harness.verdict import Outcomes
from harness.verdict.effects import effects
from harness.verdict.simultaneous import inverted, several

SINGLE = SIZES["300 questions, each its own cluster"]


def sweep(seed, means, sizes=SINGLE):
    """A grid of cells and its settings; ``means`` maps model and chunk to the true mean."""
    values = recalls(np.random.default_rng(seed), 1, sizes, np.array(list(means.values())))[0]
    settings = [{"model": model, "chunk": chunk} for model, chunk in means]
    return Outcomes(
        tuple("".join(key) for key in means), values, np.repeat(np.arange(len(sizes)), sizes)
    ), settings


def test_a_matched_difference_by_hand():
    """Only combinations in which both levels finished count, each with all else equal."""
    settings = [
        {"model": "a", "chunk": "1"},
        {"model": "a", "chunk": "2"},
        {"model": "b", "chunk": "1"},
        {"model": "b", "chunk": "2"},
        {"model": "c", "chunk": "2"},
    ]
    scores = np.array([0.2, 0.4, 0.5, 0.9, 0.1])
    outcomes = Outcomes(("a1", "a2", "b1", "b2", "c2"), np.repeat(scores[:, None], 12, axis=1), np.arange(12))
    found = {(e.axis, e.first, e.second): e for e in effects(outcomes, settings)}

    # chunk 1 to 2: a +0.2, b +0.4; c has no chunk 1
    assert found["chunk", "1", "2"].difference.value == pytest.approx(0.3)
    assert [(p.first, p.second) for p in found["chunk", "1", "2"].pairs] == [("a1", "a2"), ("b1", "b2")]
    assert [p.difference.value for p in found["chunk", "1", "2"].pairs] == pytest.approx([0.2, 0.4])
    assert [p.settings for p in found["chunk", "1", "2"].pairs] == [{"model": "a"}, {"model": "b"}]
    assert found["model", "a", "c"].difference.value == pytest.approx(-0.3)
    assert len(found["model", "a", "c"].pairs) == 1
    assert len(found) == 4


def test_an_effect_that_depends_on_the_model():
    """Up for one model and down for the other: on average nothing, said to depend on the model, signs shown to differ."""
    means = {("a", "1"): 0.82, ("a", "2"): 0.70, ("b", "1"): 0.70, ("b", "2"): 0.82}
    outcomes, settings = sweep(1, means)
    effect = next(e for e in effects(outcomes, settings) if e.axis == "chunk")

    assert effect.difference.lo < 0 < effect.difference.hi
    assert effect.depends
    assert effect.depends_on == ("model",)
    assert effect.changes_sign


def test_an_effect_that_is_the_same_everywhere():
    """The same shift for every model: an effect, and no dependence."""
    means = {
        (m, c): base + shift
        for m, base in zip("abc", (0.6, 0.7, 0.75), strict=True)
        for c, shift in (("1", 0.0), ("2", 0.08))
    }
    outcomes, settings = sweep(2, means)
    effect = next(e for e in effects(outcomes, settings) if e.axis == "chunk")

    assert effect.difference.lo > 0
    assert not effect.depends
    assert effect.depends_on == ()
    assert not effect.changes_sign


def test_noise_is_no_dependence():
    """Of 60 grids of equal cells hardly any is said to have a dependence: more than 9 have a chance of 0.1% at 5%."""
    means = {(m, c): 0.75 for m in "ab" for c in "123"}
    wrong = sum(any(e.depends for e in effects(*sweep(100 + i, means))) for i in range(60))

    assert wrong <= 9


def test_too_few_clusters_say_nothing():
    """With five documents there are differences, and neither limits nor dependences."""
    means = {("a", "1"): 0.9, ("a", "2"): 0.5, ("b", "1"): 0.5, ("b", "2"): 0.9}
    for effect in effects(*sweep(3, means, np.full(5, 60))):
        assert effect.difference.lo is None
        assert not effect.depends


def test_simultaneous_limits_of_one_row_are_students():
    """One row of symmetric values: limits are the t interval's."""
    half = np.random.default_rng(4).normal(0.1, 1, size=100)
    row = np.concatenate([half, 0.2 - half])[None, :]
    interval = several(row, np.arange(200)).intervals[0]
    wanted = stats.t.interval(0.95, 199, row.mean(), stats.sem(row[0]))

    assert (interval.lo, interval.hi) == pytest.approx(wanted, abs=0.006)


def test_simultaneous_limits_are_wider():
    """Ten rows together have wider limits than one alone, by about the ratio of the critical values."""
    rows = np.random.default_rng(5).normal(size=(10, 300))
    ten, one = several(rows, np.arange(300)).intervals[0], several(rows[:1], np.arange(300)).intervals[0]
    ratio = stats.norm.isf((1 - 0.95**0.1) / 2) / stats.norm.isf(0.025)

    assert (ten.hi - ten.lo) / (one.hi - one.lo) == pytest.approx(ratio, rel=0.04)


def test_inversion_solves_the_equation():
    """At either limit the self-normalised sum is exactly the critical value."""
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 9, size=40).astype(float)
    sums = rng.normal(0.2, 1, size=40) * sizes
    lo, hi = inverted(sums.sum(), (sums**2).sum(), (sums * sizes).sum(), sizes, 2.0)

    for limit, wanted in ((lo, 2.0), (hi, -2.0)):
        left = sums - limit * sizes
        assert left.sum() / np.sqrt((left**2).sum()) == pytest.approx(wanted)


def test_a_row_of_zeros_has_no_limits():
    """Cells that never differ have a difference of 0 and no limits, beside rows that have."""
    rows = np.stack([np.zeros(50), np.random.default_rng(7).normal(size=50)])
    first, second = several(rows, np.arange(50)).intervals

    assert (first.value, first.lo, first.hi) == (0.0, None, None)
    assert second.lo is not None


def test_what_does_not_matter_matches_every_value():
    """A search by words has no model: it is compared with the dense search of each, and its ``-`` is no model to compare with."""
    settings = [
        {"retriever": "bm25", "model": "-"},
        {"retriever": "dense", "model": "a"},
        {"retriever": "dense", "model": "b"},
    ]
    values = np.repeat(np.array([0.5, 0.3, 0.9])[:, None], 12, axis=1)
    found = effects(Outcomes(("bm25", "a", "b"), values, np.arange(12)), settings)

    # bm25 to dense: -0.2 with a, +0.4 with b, 0.1 on average; a to b: +0.6.
    assert [(e.axis, e.first, e.second) for e in found] == [
        ("retriever", "bm25", "dense"),
        ("model", "a", "b"),
    ]
    assert [p.difference.value for p in found[0].pairs] == pytest.approx([-0.2, 0.4])
    assert [p.settings for p in found[0].pairs] == [{"model": "a"}, {"model": "b"}]
    assert [e.difference.value for e in found] == pytest.approx([0.1, 0.6])
    assert found[0].depends_on == ("model",)
