"""What ``pick`` says: the table of costs, and why this configuration."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len

from harness.cli.say import width
from harness.decision.decide import Decision
from harness.decision.gate import Confirmation
from harness.verdict import Standing
from harness.view.table import short
from harness.view.verdict_words import limits, points, verdict_words

UNITS = {
    "context_tokens": "tokens of context",
    "query_ms": "ms a query (p95)",
    "index_mb": "MB of index",
    "truncated_evidence": "of the evidence unseen",
}


def headline(decision: Decision) -> str:
    """The sweep, what decides, and the number of questions."""
    sweep = decision.sweep
    count = decision.verdict.questions if decision.verdict else len(sweep.cells[0].questions["question_id"])
    post_hoc = " (chosen after seeing the results)" if decision.post_hoc else ""
    return f"{sweep.name}; {decision.metric}{post_hoc} over {count:,} questions decides"


def table(decision: Decision) -> list[str]:
    """All cells, best first, with their costs; an arrow marks the one that is taken. Cells that miss a constraint stand last.

    What the terminal has no room for is left out from the right.
    """
    taken = decision.choice.name if decision.choice else None
    standings = {s.name: s for s in decision.verdict.standings} if decision.verdict else {}
    outside = [cell.name for cell in decision.sweep.cells if cell.name not in standings]
    today = [f"to {decision.baseline.name}"] if decision.baseline else []
    rows = [["", "cell", short(decision.metric), "95%", *today, "verdict", *_COSTS]]
    for name in [*standings, *outside]:
        score, interval, verdict = _scores(decision, name, standings.get(name))
        against = [_to_baseline(decision, name)] if decision.baseline else []
        mark = "→" if name == taken else ""
        rows.append([mark, name, score, interval, *against, verdict, *_figures(decision, name)])
    sizes = [max(cell_len(row[i]) for row in rows) for i in range(len(rows[0]))]
    shown = [i for i in range(len(sizes)) if i < 3 or sum(sizes[: i + 1]) + 2 * i <= width()]
    lines = ["  ".join(_padded(row[i], sizes[i], left=i == 1) for i in shown).rstrip() for row in rows]
    return [lines[0], "-" * max(map(cell_len, lines)), *lines[1:]]


def reasons(decision: Decision) -> list[str]:
    """Three sentences or so: what the sweep shows, why this cell, and what would justify a cheaper one."""
    if decision.choice is None or decision.verdict is None:
        return [_none_meets(decision)]
    said = verdict_words(decision.verdict, decision.sweep, primary=decision.metric)
    return [
        said.headline,
        _why(decision),
        *_today(decision),
        *_costs_less(decision),
        *said.caveats,
        *decision.notes,
    ]


_COSTS = ("tokens", "ms p95", "index MB", "unseen", "k")


def _figures(decision: Decision, name: str) -> list[str]:
    """The costs; of a retriever with chunks of its own not all are known."""
    forms = {"context_tokens": ".0f", "query_ms": ".1f", "index_mb": ".1f", "truncated_evidence": ".1%"}
    costs = {key: decision.costs[name][key] for key in forms}
    shown = ["?" if math.isnan(value) else format(value, forms[key]) for key, value in costs.items()]
    return [*shown, str(decision.k[name])]


def confirmed(found: Confirmation) -> str:
    """What the choice scores on questions that nothing was chosen by."""
    between = f" ({limits(found.score)})" if limits(found.score) else ""
    look = (
        "the first look at them"
        if found.looks == 1
        else f"look number {found.looks} at them: each one more makes them less of a test"
    )
    return f"On {found.questions:,} questions that nothing was chosen by, it scores {short(found.metric)} {found.score.value:.3f}{between}; {look}."


def _scores(decision: Decision, name: str, standing: Standing | None) -> tuple[str, str, str]:
    if standing is None:
        cell = decision.sweep.cell(name)
        over = ", ".join(f"{key} too high" for key in decision.misses.of_cell[name])
        return f"{cell.metric(decision.metric):.3f}", "", over
    return f"{standing.mean.value:.3f}", limits(standing.mean).replace(" to ", "–"), standing.status


def _to_baseline(decision: Decision, name: str) -> str:
    difference = decision.to_baseline.get(name)
    if difference is None:
        return "today" if decision.baseline and name == decision.baseline.name else ""
    between = limits(difference, scale=100, digits=1)
    return f"{100 * difference.value:+.1f}".replace("-", "−") + (f" ({between})" if between else "")


def _today(decision: Decision) -> list[str]:
    """Whether to change what runs today."""
    base, choice = decision.baseline, decision.choice
    if base is None or choice is None:
        return []
    difference = decision.to_baseline.get(choice.name)
    if difference is None:
        return [f"{base.name} is what you have: keep it. No production file is written."]
    by = f"{points(difference.value, sign=True)}"
    between = limits(difference, scale=100, digits=1)
    by += f" (95%: {between})" if between else ""
    if decision.change == "better":
        return [f"Against {base.name}, which runs today, it is shown to be better: {by}."]
    if decision.change == "cheaper":
        return [f"Against {base.name}, which runs today, it is cheaper and shown to be non-inferior: {by}."]
    kept = (
        f"Keep what you have: against {base.name} it is not shown to be better, nor cheaper and non-inferior"
    )
    return [f"{kept} ({by}). No production file is written."]


def _padded(text: str, size: int, *, left: bool) -> str:
    blank = " " * (size - cell_len(text))
    return text + blank if left else blank + text


def _why(decision: Decision) -> str:
    choice, standings = decision.choice, decision.verdict.standings if decision.verdict else ()
    if choice is None:
        return ""
    # What is the best here need not be better than what runs.
    take = "Of these cells alone it would be" if decision.change == "keep" else "Take"
    taken = next(s for s in standings if s.name == choice.name)
    if choice.reason == "cheaper" and choice.saved:
        own, best = decision.costs[choice.name][choice.saved], decision.costs[choice.best][choice.saved]
        at_most = f" (by {points(taken.to_best.lo)} at most)" if taken.to_best.lo is not None else ""
        return (
            f"{take} {choice.name}: it needs {own:,.0f} instead of {best:,.0f} {UNITS[choice.saved]}, and is shown to lose less than "
            f"{points(decision.verdict.margin if decision.verdict else 0)} to {choice.best}{at_most}."
        )
    if choice.reason == "winner":
        return f"{take} {choice.name}: every other configuration is ruled out, and no cheaper one is shown to come close enough."
    if choice.reason == "equal":
        return f"{take} {choice.name}: the results are the same, and it costs the least."
    if choice.reason == "only one":
        return f"{take} {choice.name}: no other configuration {'meets the constraints' if decision.limits else 'was compared'}."
    return f"{take} {choice.name}: it is the best observed, and no cheaper one is shown to be non-inferior."


def _costs_less(decision: Decision) -> list[str]:
    choice = decision.choice
    if choice is None or choice.cheaper_not_ruled_out is None or choice.saved is None:
        return []
    own, best = (
        decision.costs[choice.cheaper_not_ruled_out][choice.saved],
        decision.costs[choice.best][choice.saved],
    )
    cheaper = f"{choice.cheaper_not_ruled_out} needs {own:,.0f} instead of {best:,.0f} {UNITS[choice.saved]}"
    if choice.required_sample_size is None:
        return [f"{cheaper}, but was observed to lose too much for more questions to justify it."]
    asked = decision.verdict.questions if decision.verdict else 0
    more = max(0, choice.required_sample_size - asked)
    return [f"{cheaper}; about {more:,} more questions would be needed to justify it."]


def _none_meets(decision: Decision) -> str:
    wanted = _listed(decision.limits)
    nearest = decision.misses.nearest
    if nearest is None:
        return "No configuration was scored."
    over = decision.misses.of_cell[nearest]
    has = " and ".join(f"{value:,.3g} {UNITS[key]}" for key, value in over.items())
    return f"No configuration meets the constraints ({wanted}). {nearest} comes nearest, with {has}."


def _listed(limits_: Mapping[str, float]) -> str:
    return ", ".join(f"at most {most:,.6g} {UNITS[key]}" for key, most in limits_.items())


def follow_up(files: Sequence[Path]) -> list[str]:
    """What was written (the production file first), and how to use it."""
    words = ["--config-dir", str(files[0].parent), "--config-name", files[0].stem]
    return [
        f"{'Wrote':<10} {' and '.join(map(str, files))}",
        f"{'Run again':<10} python -m harness {shlex.join(words)}",
    ]
