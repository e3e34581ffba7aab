"""Why ``pick`` takes a configuration, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from harness.decision.baseline import Baseline
from harness.decision.decide import Decision, Selection
from harness.view.choice import cost_text
from harness.view.formats import (
    counted,
    in_brackets,
    point_limits,
    points,
    returned,
    rounded,
    short,
)
from harness.view.notes import about_latency
from harness.view.sample_size import how_judged, is_realistic
from harness.view.verdict_words import verdict_words

UNITS = {
    "context_tokens": "tokens of context",
    "query_ms": "ms a query (p95)",
    "index_mb": "MB of index",
    "truncated_evidence": "of the evidence truncated",
}


def reasons(decision: Decision) -> list[str]:
    """Three sentences or so: what the sweep shows, why this cell, and what would justify a cheaper one."""
    found = decision.selection
    if found is None:
        return [_none_meets(decision), *decision.notes, about_latency(decision)]
    post_hoc = decision.metric if decision.post_hoc else None
    said = verdict_words(found.verdict, decision.sweep, primary=post_hoc)
    return [
        said.headline,
        _why(decision, found),
        *_decided_elsewhere(decision),
        *([] if decision.change == "keep" else [_ships(decision, found.choice.name)]),
        *_today(decision, found),
        *_costs_less(decision, found),
        *how_judged(found.verdict, decision.sweep, is_given=decision.is_margin_given),
        *said.caveats,
        *decision.notes,
        about_latency(decision),
    ]


def _today(decision: Decision, found: Selection) -> list[str]:
    """Whether to change what runs today."""
    base, choice = decision.baseline, found.choice
    if base is None:
        return []
    difference = decision.to_baseline.get(choice.name)
    if difference is None:
        return [_same_as_today(base, choice.name, changes=decision.change != "keep")]
    by = points(difference.value, sign=True) + in_brackets(point_limits(difference), "95%: ")
    against = f"Against {base.name}, which runs today, it is"
    if decision.change == "better":
        return [f"{against} shown to be better: {by}."]
    worse = _not_worse(found)
    if decision.change == "cheaper":
        return [f"{against} cheaper and {worse}: {by}."]
    return [
        f"Keep what you have: {base.name} runs today.",
        f"{choice.name} is neither shown to be better, nor both cheaper and {worse}.",
        f"The difference is {by}. No production file is written.",
    ]


def _same_as_today(base: Baseline, choice: str, *, changes: bool) -> str:
    if changes:
        return f"Its results are those of {base.name}, which runs today, and it costs less."
    keep = "nothing to change. No production file is written."
    if choice != base.cell:
        return f"{base.name} runs today, with the same results for every question, at no higher cost: {keep}"
    runs = "" if base.name == base.cell else f" has the settings of {base.cell}, which"
    return f"{base.name}{runs} is already what runs: {keep}"


def _not_worse(found: Selection) -> str:
    return f"not worse by more than {points(found.verdict.margin)}"


def _why(decision: Decision, found: Selection) -> str:
    choice = found.choice
    # What is the best here need not be better than what runs.
    is_today = decision.baseline is not None and decision.baseline.cell == choice.name
    verb = "Keep" if is_today else "Of these cells alone it would be" if decision.change == "keep" else "Take"
    take = f"{verb} {choice.name}"
    if choice.reason == "cheaper" and choice.saved:
        lo = next(s for s in found.verdict.standings if s.name == choice.name).to_best.lo
        at_most = f" ({points(lo)} at most)" if lo is not None else ""
        saved = _saved(decision, choice.name, choice.best, choice.saved)
        return f"{take}: it needs {saved}, and is {_not_worse(found)} than {choice.best}{at_most}."
    alone = "meets the constraints" if decision.limits else "was compared"
    others = "every other configuration" + (" that meets the constraints" if decision.limits else "")
    reasons = {
        "winner": f"{others} is ruled out, and no cheaper one is shown to come close enough",
        "equal": "the results are the same, and it costs the least",
        "only one": f"no other configuration {alone}",
    }
    best = f"it is the best observed, and nothing cheaper is shown to be {_not_worse(found)}"
    return f"{take}: {reasons.get(choice.reason, best)}."


def _decided_elsewhere(decision: Decision) -> list[str]:
    """That the sweep was decided at another operating point than the one that is shipped."""
    if decision.post_hoc or decision.metric == decision.sweep.primary:
        return []
    said = f"The sweep was decided by {decision.sweep.primary}."
    return [said, f"Here {decision.metric} decides, because that is what comes back."]


def _ships(decision: Decision, name: str) -> str:
    """What comes back in production, which is what was judged."""
    own, tokens = decision.points[name], decision.costs[name]["context_tokens"]
    judged = (
        f"{short(own.recorded)} is its score there" if own.recorded != own.decides else "as it was judged"
    )
    if own.point.k is None:
        return f"It returns rows up to {returned(own.point)} a question, {judged}."
    return f"It returns {returned(own.point)} a question, {tokens:,.0f} tokens on average, {judged}."


def _costs_less(decision: Decision, found: Selection) -> list[str]:
    choice, name = found.choice, found.choice.cheaper_not_ruled_out
    if name is None or choice.saved is None:
        return []
    cheaper = f"{name} needs {_saved(decision, name, choice.best, choice.saved)}"
    needed, there = choice.required_sample_size, found.verdict.questions
    if needed is None:
        return [f"{cheaper}, but was observed to lose too much for more questions to justify it."]
    if not is_realistic(needed, there):
        return [f"{cheaper}; more questions will hardly justify it."]
    more = counted(rounded(max(0, needed - there)), "more question")
    return [f"{cheaper}; about {more} would be needed to justify it."]


def _saved(decision: Decision, name: str, best: str, cost: str) -> str:
    """``485 instead of 1,013 tokens of context``."""
    return f"{cost_text(decision, name, cost)} instead of {cost_text(decision, best, cost)} {UNITS[cost]}"


def _none_meets(decision: Decision) -> str:
    nearest = decision.misses.nearest
    if nearest is None:
        return "No configuration was scored."
    has = _figures(decision.misses.of_cell[nearest], " and ", ",.3g")
    wanted = _figures(decision.limits, ", ", ",.6g", "at most ")
    return (
        f"No configuration meets the constraints ({wanted}). {nearest} comes nearest, with {has}. "
        "Raise the limit, or sweep over cheaper settings and pick again. No production file is written."
    )


def _figures(costs: Mapping[str, float], link: str, form: str, before: str = "") -> str:
    return link.join(f"{before}{value:{form}} {UNITS[key]}" for key, value in costs.items())
