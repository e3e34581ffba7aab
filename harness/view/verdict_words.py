"""The verdict in sentences, the same in the terminal, on the run's page, in the report and from ``pick``.

Plain text without markup. It claims no more than the numbers: "highest observed" does not mean winner, and
"not ruled out" does not mean "as good as".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.results.finished import FinishedSweep
from harness.verdict import Standing, Verdict
from harness.view.formats import (
    NAMED,
    counted,
    in_brackets,
    limits,
    listed,
    point_limits,
    points,
    short,
)
from harness.view.notes import about_cells, about_set
from harness.view.sample_size import how_judged, how_much_more


class VerdictText(NamedTuple):
    """A verdict in sentences.

    ``headline``: the answer. ``details``: what else was shown. ``caveats``: what to know before believing it.
    """

    headline: str
    details: Sequence[str]
    caveats: Sequence[str]

    @property
    def sentences(self) -> list[str]:
        """All of them, the answer first."""
        return [self.headline, *self.details, *self.caveats]


def verdict_words(
    verdict: Verdict | None, sweep: FinishedSweep, *, primary: str | None = None
) -> VerdictText:
    """The verdict on ``sweep`` in words.

    ``verdict`` is None where nothing could be judged: no cell was scored, or no question is shared.
    ``primary`` is the metric that was judged, where it is another than the recorded one; the caveats say
    so.
    """
    metric = primary or sweep.primary
    caveats = [*about_set(verdict, sweep), *about_cells(sweep)]
    if metric != sweep.primary:
        chosen = f"{metric} was chosen post hoc, after the results were seen"
        caveats.insert(0, f"{chosen}; the sweep's own metric is {sweep.primary}.")
    if verdict is None or not verdict.standings:
        return VerdictText(_nothing(sweep), [], caveats)
    # Cells with the same scores are counted and named once.
    distinct = replace(verdict, standings=[s for s in verdict.standings if s.same_as is None])
    details = [
        *_score(verdict, short(metric)),
        *_ruled_out(distinct),
        *_alike(verdict),
        *how_much_more(distinct),
        *how_judged(verdict, sweep),
        *_expected(distinct),
    ]
    are_alike = len(distinct.standings) == 1
    return VerdictText(_headline(verdict if are_alike else distinct), details, caveats)


def _nothing(sweep: FinishedSweep) -> str:
    if not sweep.cells:
        return f"No configuration was scored; {len(sweep.failures)} failed."
    return "Nothing can be compared: there is no question that every configuration was asked."


def _headline(verdict: Verdict) -> str:
    best, *others = verdict.standings
    count = len(verdict.standings)
    if not others:
        return f"{best.name} is the only configuration; there is nothing to compare it with."
    if all(s.same_as == best.name for s in others):
        scope = "Both" if count == 2 else f"All {count}"
        return f"{scope} configurations answer every question alike; take the cheapest."
    if verdict.method == "none":
        questions = counted(verdict.questions, "question")
        return (
            f"No winner can be named: {questions} about so few texts carry no interval. "
            f"{best.name} is the highest observed."
        )
    if verdict.winner is not None:
        return f"{verdict.winner} is the best of {count}{_ahead(best, others[0])}."
    rivals = _rivals(verdict)
    scope = f"{len(rivals)} of {count}" if len(rivals) < count else "both" if count == 2 else f"all {count}"
    names = in_brackets(listed(rivals)) if len(rivals) <= NAMED else ""
    return (
        f"No single winner: {scope} configurations can't be told apart{names}. "
        f"{best.name} is the highest observed."
    )


def _rivals(verdict: Verdict) -> list[str]:
    return [s.name for s in verdict.standings if s.status != "ruled out"]


def _score(verdict: Verdict, metric: str) -> list[str]:
    best = verdict.standings[0]
    score = f"{best.mean.value:.3f}{in_brackets(limits(best.mean))}"
    return [f"{best.name} scores {metric} {score} on {counted(verdict.questions, 'question')}."]


def _ahead(best: Standing, second: Standing) -> str:
    lead = points(best.to_best.value)
    return f", {lead} ahead of {second.name}{in_brackets(point_limits(best.to_best))}"


def _ruled_out(verdict: Verdict) -> list[str]:
    out = [s for s in verdict.standings if s.status == "ruled out"]
    lines = []
    rivals = _rivals(verdict)
    if verdict.method != "none" and NAMED < len(rivals) < len(verdict.standings):
        lines.append(f"Not ruled out are {listed(rivals)}.")
    if verdict.winner is not None and len(out) > 1:
        last = min(out, key=lambda s: s.to_best.value)
        behind = points(last.to_best.value)
        lines.append(f"The other {len(out)} are ruled out; {last.name} is furthest behind, by {behind}.")
    elif verdict.winner is None and out:
        near = max(out, key=lambda s: s.to_best.value)
        least = near.to_best.hi
        between = f" (at least {points(least).split()[0]})" if least is not None and least < 0 else ""
        names, verb = listed([s.name for s in out]), "is" if len(out) == 1 else "are"
        nearest = "it" if len(out) == 1 else f"the nearest, {near.name},"
        lines.append(f"{names} {verb} ruled out; {nearest} is {points(near.to_best.value)} behind{between}.")
    if unsure := [s.name for s in verdict.standings if not s.settled]:
        verb = "lies" if len(unsure) == 1 else "lie"
        lines.append(
            f"{listed(unsure)} {verb} so close to the threshold that resampling does not settle "
            "whether to rule out."
        )
    return lines


def _alike(verdict: Verdict) -> list[str]:
    lines = []
    same = [f"{s.name} as {s.same_as}" for s in verdict.standings if s.same_as is not None]
    if 0 < len(same) < len(verdict.standings) - 1:  # all alike: the headline says so
        some = counted(len(same), "configuration answers", "configurations answer")
        lines.append(f"{some} every question as another does ({listed(same)}). Such a pair counts as one.")
    safe = [
        s.name for s in verdict.standings[1:] if s.non_inferior and s.status != "winner" and s.same_as is None
    ]
    margin = points(verdict.margin)
    if safe:
        subject = f"{listed(safe)} {'is' if len(safe) == 1 else 'are'}"
        lines.append(
            f"{subject} not worse than the best by more than {margin}, and may be taken where cheaper."
        )
    elif sum(s.status == "not ruled out" and s.same_as is None for s in verdict.standings) > 1:
        lines.append(
            f"No other is shown to be within {margin} of the best: "
            "not being ruled out does not prove being as good."
        )
    return lines


def _expected(verdict: Verdict) -> list[str]:
    if verdict.expected is None or verdict.optimism is None or len(verdict.standings) < 2:
        return []
    less = f", {points(verdict.optimism)} less than the score shown" if verdict.optimism >= 0.0005 else ""
    best = f"the best of the {len(verdict.standings)}"
    return [
        f"On new questions about these documents, {best} is expected to score {verdict.expected:.3f}{less}."
    ]
