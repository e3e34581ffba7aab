"""What a finished sweep shows beside its leaderboard: verdict, effects, groups of questions, what helped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from harness.decision.baseline import baseline as baseline_of
from harness.decision.baseline import differences
from harness.decision.budget_order import BudgetOrder, budget_order
from harness.errors import InputError, SettingError
from harness.records import UNUSED
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.scores import Compared, compared
from harness.verdict import Interval, Verdict
from harness.verdict.effects import Effect, effects
from harness.verdict.judge import judge
from harness.verdict.simultaneous import GroupComparison, by_group, thirds

# The best is compared with so many other cells by groups of questions.
_RIVALS = 3
_FOUND = "found"


class Helped(NamedTuple):
    """What one changed setting brought to the questions of one cause in one cell.

    ``setting`` changes to ``value`` in the cell ``to``; all other settings are the same. ``found``: of the
    ``of`` questions with that cause, those that ``to`` finds. ``lost``: of the ``had`` questions that the
    cell finds, those that ``to`` misses. Both are observed, not tested: any other cell finds some questions
    and misses others.
    """

    setting: str
    value: str
    to: str
    found: int
    of: int
    lost: int
    had: int


@dataclass(frozen=True)
class ByWording:
    """Two cells compared in groups of questions; ``groups`` names the grouping."""

    first: str
    second: str
    groups: str
    comparison: GroupComparison


@dataclass(frozen=True)
class Findings:
    """What a sweep shows.

    ``metric``: what was judged. ``verdict``: None where nothing could be judged; ``reason`` says why.
    ``budgets``: the best cell at each budget, where the metric has one. ``helped``: cause of the best cell's
    missed questions to what helped. ``baseline``: the name of what runs today; ``to_baseline``: each cell's
    difference to it.
    """

    metric: str
    verdict: Verdict | None
    reason: str = ""
    effects: Sequence[Effect] = ()
    wording: Sequence[ByWording] = ()
    budgets: BudgetOrder | None = None
    helped: Mapping[str, Sequence[Helped]] = field(default_factory=dict)
    baseline: str | None = None
    to_baseline: Mapping[str, Interval] = field(default_factory=dict)


def found_out(
    sweep: FinishedSweep,
    verdict: Verdict | None = None,
    *,
    metric: str | None = None,
    margin: float | None = None,
    baseline: str | None = None,
) -> Findings:
    """Verdict, effects, groups of questions, budgets, what helped, and differences to the baseline.

    Raises ``SettingError`` for a metric that is missing or can't decide, and for an unknown baseline.
    """
    chosen = metric or sweep.primary
    if not sweep.cells:
        return Findings(chosen, None)
    helped = what_helped(sweep, sweep.cells[0])
    try:
        numbers = compared(sweep, chosen)
        verdict = verdict or judge(numbers.outcomes, margin, sweep.look.level)
    except (SettingError, InputError) as error:
        if metric is not None:
            raise
        return Findings(chosen, None, str(error), helped=helped)
    axes = [_plain(axis) for axis, levels in sweep.axes.items() if len(levels) > 1]
    settings = [{axis: cell.params[axis] for axis in axes} for cell in sweep.cells]
    base = None if baseline is None else baseline_of(baseline, sweep, numbers, chosen)
    return Findings(
        metric=chosen,
        verdict=verdict,
        effects=effects(numbers.outcomes, settings) if axes else (),
        wording=_by_wording(sweep, verdict, numbers),
        budgets=budget_order(sweep, chosen, verdict.standings[0].name),
        helped=helped,
        baseline=None if base is None else base.name,
        to_baseline={} if base is None else differences(base, numbers),
    )


def what_helped(sweep: FinishedSweep, cell: FinishedCell) -> dict[str, list[Helped]]:
    """For each cause of the cell's missed questions, one entry per axis, the most helpful first.

    Of several values of an axis, the one that finds most is given, then the one that loses least.
    """
    causes = cell.questions["cause"].astype(str)
    had = causes == _FOUND
    found = {}
    for cause in np.unique(causes[~had]):
        of, every = causes == cause, []
        for other in sweep.cells:
            if setting := _only_difference(sweep, cell, other):
                hit = other.questions["cause"].astype(str) == _FOUND
                numbers = (int(n.sum()) for n in (of & hit, of, had & ~hit, had))
                every.append(Helped(setting, other.params[setting], other.name, *numbers))
        best: dict[str, Helped] = {}
        for helped in sorted(every, key=lambda h: (-h.found, h.lost, h.to)):
            best.setdefault(helped.setting, helped)
        found[str(cause)] = sorted(best.values(), key=lambda h: (-h.found, h.lost, h.setting))
    return found


def _only_difference(sweep: FinishedSweep, one: FinishedCell, other: FinishedCell) -> str | None:
    """The only axis in which the two differ, or None; ignored settings do not count."""
    pairs = {axis: {one.params[axis], other.params[axis]} for axis in map(_plain, sweep.axes)}
    different = [axis for axis, both in pairs.items() if len(both) > 1 and UNUSED not in both]
    return different[0] if len(different) == 1 else None


def _plain(axis: str) -> str:
    return axis.lstrip("+")


def _by_wording(sweep: FinishedSweep, verdict: Verdict, numbers: Compared) -> list[ByWording]:
    """The best against its nearest rivals and the best of every other retriever, in groups of questions."""
    best = sweep.cell(verdict.standings[0].name)
    known = {str(question_id): row for row, question_id in enumerate(best.questions["question_id"])}
    rows = [known[question_id] for question_id in numbers.question_ids]
    groups: dict[str, Sequence[str]] = {}
    if "overlap" in best.questions:
        groups["overlap"] = thirds(best.questions["overlap"][rows].astype(np.float64))
    groups["source"] = best.questions["source"][rows].astype(str).tolist()
    names, values = numbers.outcomes.names, numbers.outcomes.values
    found = []
    for rival in _rivals(sweep, verdict, best):
        ahead = values[names.index(best.name)] - values[names.index(rival)]
        for title, of in groups.items():
            if len(set(of)) > 1:
                comparison = by_group(ahead, numbers.outcomes.clusters, of)
                found.append(ByWording(best.name, rival, title, comparison))
    return found


def _rivals(sweep: FinishedSweep, verdict: Verdict, best: FinishedCell) -> list[str]:
    others = [sweep.cell(s.name) for s in verdict.standings[1:] if s.same_as is None]
    firsts: dict[str | None, str] = {}
    for cell in others:
        firsts.setdefault(cell.params.get("retriever"), cell.name)
    firsts.pop(best.params.get("retriever"), None)
    return list(dict.fromkeys([*(cell.name for cell in others[:_RIVALS]), *firsts.values()]))
