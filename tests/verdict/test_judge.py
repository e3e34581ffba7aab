from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from simulated_sweeps import SIZES, paired, recalls

from harness.errors import InputError
from harness.verdict import Outcomes
from harness.verdict.judge import judge
from harness.verdict.power import required_sample_size


@pytest.fixture(scope="module")
def outcomes():
    """Six cells, two of them equal on every question, over 60 clusters."""
    sizes = SIZES["300 questions in 60 unequal clusters"]
    values = recalls(np.random.default_rng(1), 1, sizes, np.array([0.6, 0.65, 0.72, 0.82, 0.84]))[0]
    return Outcomes(
        (*"abcde", "again"), np.concatenate([values, values[3:4]]), np.repeat(np.arange(60), sizes)
    )


def test_the_margin_comes_from_the_size_of_the_set(outcomes):
    """The same for other results on as many questions; a given one is kept."""
    opposite = Outcomes(outcomes.names, 1 - outcomes.values, outcomes.clusters)

    assert judge(outcomes).margin == judge(opposite).margin == 0.08
    assert judge(outcomes, 0.2).margin == 0.2


def test_a_later_look_takes_more_to_name_a_winner():
    """14 of 16 questions won: p = 0.2% one-sided with 137 patterns of 65,536, enough at 2.5% and not at 0.15%."""
    ahead = np.zeros(100)
    ahead[:14], ahead[14:16] = 1.0, -1.0
    outcomes = Outcomes(("a", "b"), np.stack([0.5 + ahead / 2, 0.5 - ahead / 2]), np.arange(100))
    first, later = judge(outcomes), judge(outcomes, level=0.0015)

    assert (first.winner, later.winner) == ("a", None)
    assert (first.level, later.level) == (0.025, 0.0015)
    assert later.standings[0].to_best.lo < 0 < first.standings[0].to_best.lo
    assert later.standings[0].to_best.hi > first.standings[0].to_best.hi
    assert later.minimum_detectable_effect > first.minimum_detectable_effect
    assert later.to_json()["level"] == 0.0015


def by_name(verdict):
    return {s.name: s for s in verdict.standings}


def test_the_verdict_joins_its_parts(outcomes):
    """Best first; weak cells ruled out with a distance; the two best not ruled out; how many questions would tell them apart."""
    verdict = judge(outcomes)
    standings = by_name(verdict)
    means = [s.mean.value for s in verdict.standings]

    assert means == sorted(means, reverse=True)
    assert verdict.method == "bootstrap"
    assert standings["a"].status == standings["b"].status == "ruled out"
    assert standings["a"].to_best.hi < 0
    assert standings["d"].status == standings["e"].status == "not ruled out"
    assert verdict.winner is None
    best, second = (outcomes.values[outcomes.names.index(name)] for name in ("e", "d"))
    if standings["d"].mean.value > standings["e"].mean.value:
        best, second = second, best
    assert verdict.required_sample_size == required_sample_size(best - second, outcomes.clusters)
    assert verdict.required_sample_size > verdict.questions
    assert 0 < verdict.minimum_detectable_effect < 0.2
    assert verdict.expected == pytest.approx(max(means) - verdict.optimism)


def test_equal_cells_count_as_one(outcomes):
    """A cell with the same result on every question shares everything with the other, and costs nobody anything."""
    standings = by_name(judge(outcomes))
    without = Outcomes(outcomes.names[:5], outcomes.values[:5], outcomes.clusters)

    # "again" comes before "d" by name.
    assert standings["again"].same_as is None
    assert standings["d"].same_as == "again"
    assert standings["d"].to_best == standings["again"].to_best
    assert by_name(judge(without))["e"].to_best.value == standings["e"].to_best.value


def test_of_equal_means_the_cheapest_stands_first():
    """As in the table: by what is handed over, then by name; equal on every question or only on average."""
    rng = np.random.default_rng(5)
    scores = rng.random(60)
    values = np.stack([scores, scores, scores[::-1], scores - 0.1])
    verdict = judge(Outcomes(tuple("bacd"), values, np.arange(60), np.array([200.0, 300.0, 100.0, 50.0])))

    assert [s.name for s in verdict.standings] == ["c", "b", "a", "d"]
    assert by_name(verdict)["a"].same_as == "b"


def test_the_order_of_cells_and_questions_does_not_matter(outcomes):
    """The same data give the same verdict: every decision, and every limit to the last digits."""
    rng = np.random.default_rng(2)
    cells, questions = rng.permutation(len(outcomes.names)), rng.permutation(len(outcomes.clusters))
    shuffled = Outcomes(
        tuple(outcomes.names[i] for i in cells),
        outcomes.values[cells][:, questions],
        77 - outcomes.clusters[questions],
    )
    one, other = judge(outcomes), judge(shuffled)

    assert [(s.name, s.status, s.non_inferior) for s in one.standings] == [
        (s.name, s.status, s.non_inferior) for s in other.standings
    ]
    for a, b in zip(one.standings, other.standings, strict=True):
        assert (a.to_best.lo, a.to_best.hi) == pytest.approx((b.to_best.lo, b.to_best.hi), abs=1e-9)
        assert (a.mean.lo, a.mean.hi) == pytest.approx((b.mean.lo, b.mean.hi), abs=1e-9)
    assert one.expected == pytest.approx(other.expected)


def test_a_clear_winner():
    """Twelve points on 400 questions: one cell remains, its limits lie above 0, and nothing more is needed."""
    values = paired(np.random.default_rng(3), 1, 400, 0.2, 0.12)[0]
    verdict = judge(Outcomes(("good", "bad"), values, np.arange(400)))

    assert verdict.winner == "good"
    assert [s.status for s in verdict.standings] == ["winner", "ruled out"]
    assert verdict.standings[0].to_best.lo > 0
    assert verdict.required_sample_size is None
    content = verdict.to_json()
    assert json.loads(json.dumps(content, allow_nan=False))["decided"] is True
    assert content["ruled_out"].keys() == {"bad"}


def test_agrees_with_the_paired_t_test():
    """Two cells on questions of their own: ruled out where the paired t test says so, within a hair of 5%."""
    rng = np.random.default_rng(4)
    for _ in range(25):
        first, second = recalls(rng, 1, SIZES["300 questions, each its own cluster"], np.array([0.75, 0.7]))[
            0
        ]
        p = stats.ttest_rel(first, second).pvalue
        if not 0.03 < p < 0.07:
            verdict = judge(Outcomes(("a", "b"), np.stack([first, second]), np.arange(300)))
            assert (verdict.winner is not None) == (p <= 0.05)


@pytest.mark.parametrize(
    ("questions", "method"), [(1, "none"), (9, "none"), (10, "cr2"), (29, "cr2"), (30, "bootstrap")]
)
def test_how_much_is_said_depends_on_the_clusters(questions, method):
    """Below ten clusters no interval, no winner and nothing shown, however clear it looks."""
    values = np.stack([np.ones(questions), np.zeros(questions)])
    verdict = judge(Outcomes(("a", "b"), values, np.arange(questions)))

    assert verdict.method == method
    if method == "none":
        assert verdict.winner is None
        assert {s.status for s in verdict.standings} == {"not ruled out"}
        assert verdict.standings[0].mean.lo is verdict.standings[0].to_best.hi is None
        assert not any(s.non_inferior for s in verdict.standings)
        assert verdict.expected is None
    else:
        assert verdict.winner == "a"


def test_many_questions_in_one_document():
    """300 questions about one document are one cluster: nothing is said."""
    values = paired(np.random.default_rng(5), 1, 300, 0.3, 0.2)[0]
    verdict = judge(Outcomes(("a", "b"), values, np.zeros(300, dtype=np.int64)))

    assert verdict.effective_clusters == 1
    assert verdict.winner is None


@pytest.mark.parametrize("value", [0.0, 1.0, 0.4])
@pytest.mark.parametrize("cells", [1, 3])
def test_nothing_to_tell_apart(value, cells):
    """One cell, or cells that are all alike: not ruled out, no distances, no winner, no invented numbers."""
    verdict = judge(Outcomes(tuple("xyz"[:cells]), np.full((cells, 50), value), np.arange(50)))

    assert verdict.winner is None
    assert {s.status for s in verdict.standings} == {"not ruled out"}
    assert verdict.required_sample_size is verdict.minimum_detectable_effect is None
    assert verdict.optimism == 0
    assert [s.same_as for s in verdict.standings] == [None, "x", "x"][:cells]


def test_cells_of_one_name_are_refused():
    """Nobody could tell which of them is meant."""
    with pytest.raises(InputError, match="same name"):
        judge(Outcomes(("a", "a"), np.zeros((2, 3)), np.arange(3)))


@pytest.mark.parametrize("cells", [2, 3])
def test_differences_too_small_to_add_up_decide_nothing(cells):
    """A cell 2e-8 above another on each of 30 questions: no winner, and limits that hold the difference."""
    values = np.full((cells, 30), 0.5)
    values[1] += 2e-8
    values[2:] = 0.0
    standings = judge(Outcomes(tuple("abc"[:cells]), values, np.arange(30))).standings

    assert [s.status for s in standings[:2]] == ["not ruled out"] * 2
    assert standings[0].to_best.value == pytest.approx(2e-8)
    assert all(s.to_best.lo < s.to_best.value < s.to_best.hi for s in standings[:2])
