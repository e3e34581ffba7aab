"""What a finished sweep shows beside its leaderboard: verdict, effects, wording, what helped. Numbers only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.decision.baseline import baseline as baseline_meant
from harness.decision.baseline import differences
from harness.errors import InputError, SettingError
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.scores import Compared, compared
from harness.verdict import Interval, Verdict
from harness.verdict.effects import Effect, effects
from harness.verdict.helped import Helped, what_helped
from harness.verdict.judge import judge
from harness.verdict.wording import Comparison, by_group, thirds

# The best is compared with so many others by the wording of the questions.
_RIVALS = 3


@dataclass(frozen=True)
class ByWording:
    """Two cells compared in groups of questions. ``differences`` are ``first`` minus ``second``; ``groups`` says what the groups are."""

    first: str
    second: str
    groups: str
    comparison: Comparison


@dataclass(frozen=True)
class Findings:
    """``verdict`` is None where nothing could be judged; ``reason`` says why.

    ``metric`` is what was judged. ``helped``: cell to cause to what was observed to help. ``baseline``: the name of what runs today, and ``to_baseline`` each cell's difference to it.
    """

    metric: str
    verdict: Verdict | None
    reason: str = ""
    effects: Sequence[Effect] = ()
    wording: Sequence[ByWording] = ()
    helped: Mapping[str, Mapping[str, Sequence[Helped]]] = field(default_factory=dict)
    baseline: str | None = None
    to_baseline: Mapping[str, Interval] = field(default_factory=dict)


def found_out(
    sweep: FinishedSweep,
    verdict: Verdict | None = None,
    *,
    metric: str | None = None,
    margin: float = 0.03,
    baseline: str | None = None,
) -> Findings:
    """Verdict, effects, wording, what helped, and differences to the baseline.

    Raises ``SettingError`` for a metric that is not there or can't decide, and for a baseline that is neither a cell nor a file.
    """
    chosen, helped = metric or sweep.primary, _helped(sweep)
    if not sweep.cells:
        return Findings(chosen, None)
    try:
        numbers = compared(sweep, chosen)
        verdict = verdict or judge(numbers.outcomes, margin)
    except (SettingError, InputError) as error:
        if metric is not None:
            raise
        return Findings(chosen, None, str(error), helped=helped)
    axes = [axis.lstrip("+") for axis, levels in sweep.axes.items() if len(levels) > 1]
    settings = [{axis: cell.params[axis] for axis in axes} for cell in sweep.cells]
    base = None
    if baseline is not None:
        ks = dict.fromkeys(numbers.metrics, sweep.k)
        costs: dict[str, dict[str, float]] = {name: {} for name in numbers.metrics}
        base = baseline_meant(baseline, sweep, numbers, chosen, ks, costs)
    return Findings(
        metric=chosen,
        verdict=verdict,
        effects=effects(numbers.outcomes, settings) if axes else (),
        wording=_by_wording(sweep, verdict, numbers),
        helped=helped,
        baseline=None if base is None else base.name,
        to_baseline={} if base is None else differences(base, numbers),
    )


def _helped(sweep: FinishedSweep) -> dict[str, dict[str, list[Helped]]]:
    axes = [axis.lstrip("+") for axis in sweep.axes]
    settings = [{axis: cell.params[axis] for axis in axes} for cell in sweep.cells]
    causes = [cell.questions["cause"].astype(str) for cell in sweep.cells]
    return what_helped([cell.name for cell in sweep.cells], settings, causes)


def _by_wording(sweep: FinishedSweep, verdict: Verdict, numbers: Compared) -> list[ByWording]:
    """The best against its nearest rivals, and against the best of every other retriever, in groups of questions."""
    best = sweep.cell(verdict.standings[0].name)
    known = {str(i): place for place, i in enumerate(best.questions["question_id"])}
    rows = [known[i] for i in numbers.question_ids]
    groups: dict[str, Sequence[str]] = {}
    if "overlap" in best.questions:
        groups["overlap"] = thirds(best.questions["overlap"][rows].astype(np.float64))
    groups["source"] = best.questions["source"][rows].astype(str).tolist()
    names, values = numbers.outcomes.names, numbers.outcomes.values
    found = []
    for rival in _rivals(sweep, verdict, best):
        differences = values[names.index(best.name)] - values[names.index(rival)]
        for title, of in groups.items():
            if len(set(of)) > 1:
                comparison = by_group(differences, numbers.outcomes.clusters, of)
                found.append(ByWording(best.name, rival, title, comparison))
    return found


def _rivals(sweep: FinishedSweep, verdict: Verdict, best: FinishedCell) -> list[str]:
    others = [sweep.cell(s.name) for s in verdict.standings[1:] if s.same_as is None]
    firsts: dict[str | None, str] = {}
    for cell in others:
        firsts.setdefault(cell.params.get("retriever"), cell.name)
    firsts.pop(best.params.get("retriever"), None)
    return list(dict.fromkeys([*(cell.name for cell in others[:_RIVALS]), *firsts.values()]))
