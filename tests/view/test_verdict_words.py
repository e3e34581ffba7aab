"""The sentences of a verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_sweep import made_sweep

from harness.results.earlier import MeasuredEffect
from harness.results.finished import FinishedSweep
from harness.verdict import Interval, Standing, Verdict
from harness.verdict.power import Look, level_after_growth
from harness.view.formats import counted, limits, listed, points
from harness.view.sample_size import detectable, is_realistic
from harness.view.verdict_words import verdict_words


@pytest.fixture
def sweep(tmp_path) -> FinishedSweep:
    texts = {f"{i}.md": f"text {i} " * 40 for i in range(40)}
    return made_sweep(tmp_path, {"model": ["a", "b", "c"]}, ["what?"] * 80, texts)


def standing(name, status, value, *, lo=None, hi=None, **more) -> Standing:
    return Standing(
        name,
        Interval(0.7 + value, 0.65 + value, 0.75 + value),
        Interval(value, lo, hi),
        status,
        more.pop("non_inferior", False),
        **more,
    )


def verdict(*standings, **more) -> Verdict:
    given = {
        "questions": 80,
        "clusters": 40,
        "effective_clusters": 40.0,
        "method": "bootstrap",
        "margin": 0.03,
        "winner": next((s.name for s in standings if s.status == "winner"), None),
        "standings": standings,
        "required_sample_size": None,
        "minimum_detectable_effect": None,
        "expected": None,
        "optimism": None,
    }
    return Verdict(**given | more)


WINNER = standing("a", "winner", 0.09, lo=0.03, hi=0.15)


def test_a_winner_is_named_with_its_lead(sweep):
    """The first sentence is the answer: who, of how many, by how much, within which limits."""
    said = verdict_words(verdict(WINNER, standing("b", "ruled out", -0.09, lo=-0.15, hi=-0.03)), sweep)

    assert said.headline == "a is the best of 2, 9.0 points ahead of b (3.0 to 15.0)."
    assert "a scores recall@2000t 0.790 (0.740 to 0.840) on 80 questions." in said.details


def test_without_a_winner_nobody_is_called_best(sweep):
    """Cells that can't be told apart are named; the highest is called observed, and what is not shown is said not to be."""
    rivals = (
        standing("a", "not ruled out", 0.01),
        standing("b", "not ruled out", -0.01),
        standing("c", "ruled out", -0.2, lo=-0.3, hi=-0.1),
    )
    said = verdict_words(verdict(*rivals, required_sample_size=1234), sweep)
    text = " ".join(said.sentences)

    assert (
        said.headline
        == "No single winner: 2 of 3 configurations can't be told apart (a and b). a is the highest observed."
    )
    assert "best of" not in text
    assert "c is ruled out; it is 20.0 points behind (at least 10.0)." in text
    assert "About 1,200 questions of this kind would separate the two best" in text
    assert "not being ruled out does not prove being as good" in text


def test_a_hopeless_number_of_questions_is_called_so(sweep):
    """Nobody is asked to write two million questions."""
    said = verdict_words(
        verdict(
            standing("a", "not ruled out", 0.001),
            standing("b", "not ruled out", -0.001),
            required_sample_size=2_000_000,
        ),
        sweep,
    )

    assert (
        "More questions will hardly separate the two best: as observed, they are as good as equal."
        in said.details
    )


def test_cheaper_cells_that_are_shown_to_be_no_worse_are_named(sweep):
    """Being not ruled out is not enough to be recommended."""
    said = verdict_words(
        verdict(
            standing("a", "not ruled out", 0.01), standing("b", "not ruled out", -0.01, non_inferior=True)
        ),
        sweep,
    )

    assert (
        "b is not worse than the best by more than 3.0 points, and may be taken where cheaper."
        in said.details
    )


def test_too_few_texts_carry_no_winner(sweep):
    """Below ten effective clusters there is no interval, and the sentence says why."""
    said = verdict_words(
        verdict(standing("a", "not ruled out", 0.1), standing("b", "not ruled out", -0.1), method="none"),
        sweep,
    )

    assert said.headline.startswith(
        "No winner can be named: 80 questions about so few texts carry no interval."
    )


def test_equal_cells_are_one(sweep):
    """Cells that answer every question alike are not compared, but said to be alike."""
    alike = (standing("a", "not ruled out", 0.0), standing("b", "not ruled out", 0.0, same_as="a"))
    said = verdict_words(verdict(*alike), sweep)

    assert said.headline == "Both configurations answer every question alike; take the cheapest."
    assert not [line for line in said.details if "as another" in line or "No other" in line]


@pytest.mark.parametrize("pairs", [1, 2, 3, 78])
def test_many_equal_cells_are_one_sentence(sweep, pairs):
    """A count and the first three pairs."""
    alike = [standing(f"b{i}", "not ruled out", -0.1, same_as=f"a{i}") for i in range(pairs)]
    said = verdict_words(verdict(WINNER, standing("z", "ruled out", -0.2), *alike), sweep).details
    (line,) = [line for line in said if "every question as another" in line]

    if pairs == 1:
        assert line == (
            "1 configuration answers every question as another does (b0 as a0). Such a pair counts as one."
        )
    if pairs == 78:
        assert line == (
            "78 configurations answer every question as another does "
            "(b0 as a0, b1 as a1, b2 as a2 and 75 more). Such a pair counts as one."
        )


def test_one_cell_is_no_comparison(sweep):
    """A sweep of one says so."""
    assert (
        "the only configuration"
        in verdict_words(verdict(standing("a", "not ruled out", 0.0)), sweep).headline
    )


def test_what_the_set_cannot_tell_is_said(sweep):
    """Synthetic questions, few documents, an approximation, a metric chosen post hoc, failures: each has its sentence."""
    columns = dict(sweep.cells[0].questions) | {"cluster": np.array(["x.md#1", "x.md#2"] * 40)}
    small = replace(
        sweep,
        cells=[replace(sweep.cells[0], questions=columns)],
        failures=[{"name": "d", "error": "out of memory"}],
    )
    given = verdict(WINNER, standing("b", "ruled out", -0.09), method="cr2", effective_clusters=17.2)
    caveats = verdict_words(given, small, primary="recall_at_5").caveats
    text = " ".join(caveats)

    assert caveats[0].startswith("recall_at_5 was chosen post hoc, after the results were seen")
    assert "about 1 document:" in text
    assert "these weigh like 17 texts" in text
    assert "53 of 80 questions were written by a model" in text
    assert "1 of 2 configurations failed: d." in text


def test_many_truncated_cells_do_not_fill_the_page(sweep):
    """Three warnings stand in full, the others are counted."""
    cells = []
    for cell in [*sweep.cells, *sweep.cells]:
        health = dict(cell.content["health"]) | {
            "truncated_tokens": 0.4,
            "truncated_evidence": 0.5,
            "truncated_chunks": 7.0,
        }
        cells.append(replace(cell, content=dict(cell.content) | {"health": health}))
    caveats = verdict_words(verdict(WINNER), replace(sweep, cells=cells)).caveats

    assert sum("maximum sequence length" in line for line in caveats) == 3
    assert "The same holds, more or less, for 3 more configurations." in caveats


def test_nothing_judged_is_said(sweep):
    """No cell, or no shared question: a sentence instead of numbers."""
    assert "No configuration was scored" in verdict_words(None, replace(sweep, cells=[])).headline
    assert "no question that every configuration was asked" in verdict_words(None, sweep).headline


def test_numbers_are_written_alike_everywhere():
    """Points with a real minus, limits by words, names counted."""
    assert points(0.0915) == "9.2 points"
    assert points(-0.01) == "1.0 point"
    assert points(-0.01, sign=True) == "−1.0 point"
    assert limits(Interval(0.5, -0.0312, 0.25), scale=100, digits=1) == "−3.1 to 25.0"
    assert limits(Interval(0.5, None, None)) == ""
    assert [counted(n, "question") for n in (0, 1, 1234)] == ["0 questions", "1 question", "1,234 questions"]
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c", "d"]) == "a, b, c and d"
    assert listed(list("abcdefg")) == "a, b, c and 4 more"


def open_verdict(**more):
    rivals = standing("a", "not ruled out", 0.01), standing("b", "not ruled out", -0.01)
    return verdict(*rivals, **more)


def test_the_margin_is_said_where_the_size_of_the_set_made_it(sweep):
    """150 questions about 150 texts get 10 points; a margin of the user's own, or beside a clear winner, needs no words."""
    sizes = {"questions": 150, "clusters": 150, "effective_clusters": 150.0}
    expected = (
        "150 questions about 150 texts can hardly exclude a loss of less than 10.0 points, so that is the margin. "
        "pick.margin= sets another."
    )

    assert expected in verdict_words(open_verdict(margin=0.1, **sizes), sweep).details
    won = verdict(WINNER, standing("b", "ruled out", -0.09), margin=0.1, **sizes)
    for other in (open_verdict(margin=0.03, **sizes), won, open_verdict(margin=0.1, method="none", **sizes)):
        assert "can hardly exclude" not in " ".join(verdict_words(other, sweep).details)


def test_a_later_look_is_said_with_its_limits(sweep):
    """One-sided 0.177% at twice the questions: limits at 99.6%."""
    third = replace(sweep, look=Look(3, level_after_growth(2)))
    said = " ".join(verdict_words(open_verdict(level=third.look.level), third).details)

    assert (
        "This is look 3 at a golden set that grew. Limits of differences are at 99.6% instead of 95%" in said
    )
    assert "This is look" not in " ".join(verdict_words(open_verdict(), sweep).details)


@pytest.mark.parametrize(
    ("required", "questions", "realistic"),
    [(5000, 80, True), (5001, 80, False), (9000, 900, True), (9001, 900, False), (83_595_410, 368, False)],
)
def test_nobody_is_asked_for_ten_times_the_questions(required, questions, realistic):
    """Up to 5,000, or ten times what there is."""
    assert is_realistic(required, questions) is realistic


def test_one_question_is_no_questions(sweep):
    """A required sample size of one is written as such."""
    said = " ".join(verdict_words(open_verdict(required_sample_size=1), sweep).details)

    assert "About 1 question of this kind" in said


def test_what_can_be_detected_is_measured_or_assumed_and_says_so():
    """Figures of 80% are called that; nine texts carry no verdict, whatever was measured."""
    measured = MeasuredEffect(0.14, "recall_at_2000_tokens", "2 cells")
    many, few, texts = np.arange(300), np.arange(40), np.arange(40) % 9

    said, effect = detectable(many, measured, "recall_at_5")
    assert said == (
        "With 300 questions about 300 texts, a difference of 14.0 points in recall@2000t would be found in 80% of "
        "sweeps, as measured in '2 cells'."
    )
    assert effect == 0.14
    said, effect = detectable(many, None, "recall_at_5")  # √0.00401184, see test_power
    assert said == (
        "With 300 questions about 300 texts, a difference of 6.3 points in recall@5 would be found in 80% of "
        "sweeps, assuming that two cells differ on 15% of the questions."
    )
    assert effect == pytest.approx(0.06334, abs=1e-5)
    assert detectable(few, None, "mrr")[0].startswith(
        "With 40 questions about 40 texts, not even a difference of 15.0 points in mrr would be found in 80% of sweeps"
    )
    assert detectable(texts, measured, "mrr") == (
        "40 questions about 9 texts are too few for any verdict.",
        None,
    )
