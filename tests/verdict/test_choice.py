"""Which configuration is taken: the best observed, or a cheaper one where that was shown to be non-inferior."""

from __future__ import annotations

import math

import numpy as np

from harness.verdict import Interval, Standing, Verdict
from harness.verdict.choice import CellPrice, choose, misses, worth_changing
from harness.verdict.latency import Latency

ORDER = ("context_tokens", "query_ms", "index_mb")


def standing(name, mean, lo=None, status="not ruled out", *, non_inferior=False, same_as=None):
    return Standing(
        name,
        Interval(mean, None, None),
        Interval(mean - 0.8, lo, None),
        status,
        non_inferior,
        same_as=same_as,
    )


def verdict(*standings, winner=None):
    return Verdict(200, 50, 45.0, "bootstrap", 0.03, winner, standings, None, None, None, None)


def cost(tokens, ms=10.0, mb=1.0, latency=None, stages=0):
    costs = {"context_tokens": tokens, "query_ms": ms, "index_mb": mb, "stages": stages}
    return CellPrice(costs, latency)


def measured(tokens, ms, mb=1.0, group=0):
    """Sixty questions, the later ones longer, around ``ms``."""
    times = Latency(ms * np.linspace(0.5, 1.5, 60), 5, group)
    return cost(tokens, times.high, mb, times)


def bare(prices):
    return {name: price.costs for name, price in prices.items()}


def test_a_cheaper_cell_is_taken_only_where_it_is_shown_to_be_no_worse():
    """Not being ruled out is no proof of being as good."""
    costs = {"a": cost(2000), "b": cost(1000)}
    unproven = verdict(standing("a", 0.80), standing("b", 0.79, lo=-0.06))
    proven = verdict(standing("a", 0.80), standing("b", 0.79, lo=-0.02, non_inferior=True))

    assert choose(unproven, costs, ORDER, 0.03).name == "a"
    taken = choose(proven, costs, ORDER, 0.03)
    assert (taken.name, taken.reason, taken.saved) == ("b", "cheaper", "context_tokens")


def test_how_many_questions_would_justify_the_cheaper_one():
    """B lies 1 point behind, its limit 5 points below that; 2 points of room are left: 200 questions times (5 / 2)²."""
    costs = {"a": cost(2000), "b": cost(1000)}
    unproven = verdict(standing("a", 0.80), standing("b", 0.79, lo=-0.06))

    assert choose(unproven, costs, ORDER, 0.03).required_sample_size in {1250, 1251}  # of floats


def test_no_number_of_questions_justifies_what_lost_more_than_the_margin():
    """At the observed difference the lower limit never clears the margin."""
    costs = {"a": cost(2000), "b": cost(1000)}
    behind = verdict(standing("a", 0.80), standing("b", 0.75, lo=-0.10))

    assert choose(behind, costs, ORDER, 0.03).required_sample_size is None


def test_a_dearer_cell_is_never_taken_for_being_no_worse():
    """What costs more and was observed to be worse has nothing to offer."""
    costs = {"a": cost(1000), "b": cost(2000)}
    shown = verdict(standing("a", 0.80), standing("b", 0.79, lo=-0.02, non_inferior=True))

    assert choose(shown, costs, ORDER, 0.03).name == "a"


def test_latencies_noted_in_passing_do_not_decide():
    """One cell was noted at 0.6 and at 9 ms: 15 times as much is one latency, and the smaller index is cheaper."""
    shown = verdict(standing("a", 0.80), standing("b", 0.79, non_inferior=True))

    def saved(**b):
        return choose(shown, {"a": cost(1000, ms=9.0, mb=5.0), "b": cost(1000, **b)}, ORDER, 0.03).saved

    assert saved(ms=0.6, mb=5.0) is None
    assert saved(ms=0.6, mb=3.0) == "index_mb"
    assert saved(ms=170.0, mb=3.0) == "index_mb"
    assert saved(ms=0.4, mb=9.0) == "query_ms"
    assert saved(ms=190.0, mb=3.0) is None


def test_latencies_measured_in_turns_decide_where_they_differ_by_a_tenth():
    """10 and 9.5 ms are one latency, 10 and 5 are two; of other turns even 5 is not shown to be lower."""
    shown = verdict(standing("a", 0.80), standing("b", 0.79, non_inferior=True))

    def chosen(**b):
        prices = {"a": measured(1000, 10.0), "b": measured(1000, **b)}
        return choose(shown, prices, ORDER, 0.03).saved

    assert chosen(ms=9.5) is None
    assert chosen(ms=9.5, mb=0.5) == "index_mb"
    assert chosen(ms=5.0, mb=9.0) == "query_ms"
    assert chosen(ms=5.0, group=1) is None


def test_equal_results_go_to_the_cheapest():
    """Cells with the same results on every question differ in cost alone."""
    costs = {"a": cost(2000), "b": cost(1000), "c": cost(500)}
    same = verdict(standing("a", 0.80), standing("b", 0.80, same_as="a"))
    behind = verdict(
        standing("a", 0.80), standing("b", 0.80, same_as="a"), standing("c", 0.5, status="ruled out")
    )

    assert choose(same, costs, ORDER, 0.03).reason == "equal"
    assert choose(same, costs, ORDER, 0.03).name == "b"
    assert choose(behind, costs, ORDER, 0.03).name == "b"


def test_of_equal_results_noise_takes_nothing():
    """The first runs fewer stages, and the others are faster by what one latency differs from the next: 0.6 to 9 ms."""
    costs = {
        "none": cost(1000, ms=9.0, stages=0),
        "reranked": cost(1000, ms=0.6, stages=1),
        "again": cost(1000, ms=0.6, stages=0),
    }
    same = verdict(
        standing("none", 0.80),
        standing("reranked", 0.80, same_as="none"),
        standing("again", 0.80, same_as="none"),
        standing("worse", 0.5, status="ruled out"),
        winner="none",
    )

    found = choose(same, costs | {"worse": cost(900)}, ORDER, 0.03)
    assert (found.name, found.reason, found.best) == ("none", "winner", "none")
    clearly = costs | {
        "again": cost(1000, ms=9.0, stages=0),
        "none": cost(1000, ms=190, stages=0),
    }
    assert choose(same, clearly | {"worse": cost(900)}, ORDER, 0.03).name == "again"


def test_a_baseline_with_the_same_results_is_left_for_fewer_stages():
    """Not for a latency that noise explains, and not for the same costs."""
    none, reranked = cost(1000, ms=9.0, stages=0), cost(1000, ms=0.6, stages=1)

    assert worth_changing(None, none, reranked, ORDER, 0.03) == "cheaper"
    assert worth_changing(None, reranked, none, ORDER, 0.03) == "keep"
    assert worth_changing(None, none, cost(1000, ms=2.0, stages=0), ORDER, 0.03) == "keep"


def test_a_winner_is_taken_when_nothing_cheaper_comes_close():
    """The reason says that all others are ruled out."""
    costs = {"a": cost(2000), "b": cost(1000)}
    won = verdict(
        standing("a", 0.80, status="winner"), standing("b", 0.6, lo=-0.3, status="ruled out"), winner="a"
    )

    assert choose(won, costs, ORDER, 0.03).reason == "winner"


def test_costs_that_are_not_known_decide_nothing_and_meet_no_limit():
    """A latency that could not be measured is neither cheap nor within a limit."""
    costs = {"a": cost(1000, ms=math.nan), "b": cost(1000, ms=5.0)}
    shown = verdict(standing("a", 0.80), standing("b", 0.79, non_inferior=True))

    assert choose(shown, costs, ("query_ms",), 0.03).name == "a"
    assert list(misses(bare(costs), {"query_ms": 20.0}).of_cell) == ["a"]


def test_the_nearest_is_the_one_that_exceeds_its_worst_limit_least():
    """A is 3 times over one limit, b 1.5 times over two."""
    costs = {"a": cost(3000, ms=5.0), "b": cost(1500, ms=15.0)}
    found = misses(bare(costs), {"context_tokens": 1000.0, "query_ms": 10.0})

    assert found.nearest == "b"
    assert found.of_cell["a"] == {"context_tokens": 3000}


def test_what_runs_today_stays_unless_something_is_shown():
    """Better, or cheaper and non-inferior; anything else keeps it."""
    cheap, dear = cost(500), cost(1000)

    assert worth_changing(Interval(0.05, 0.01, 0.09), dear, cheap, ORDER, 0.03) == "better"
    assert worth_changing(Interval(-0.01, -0.02, 0.01), cheap, dear, ORDER, 0.03) == "cheaper"
    assert worth_changing(Interval(-0.01, -0.02, 0.01), dear, cheap, ORDER, 0.03) == "keep"
    assert worth_changing(Interval(0.02, -0.05, 0.09), cheap, dear, ORDER, 0.03) == "keep"
    assert worth_changing(Interval(0.02, None, None), cheap, dear, ORDER, 0.03) == "keep"
