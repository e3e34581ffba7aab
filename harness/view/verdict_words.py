"""The verdict in sentences: the same ones in the terminal, on the run's page, in the report and from ``pick``.

Plain text without markup. Nothing is said that the numbers do not carry: "highest observed" is no winner, "not ruled out" is no
"as good as".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.results.finished import FinishedSweep
from harness.verdict import Interval, Standing, Verdict
from harness.view.caveats import NAMED, about_cells, about_set, listed
from harness.view.table import short

# Nobody writes or pays for more questions than that.
REALISTIC = 50_000


class Words(NamedTuple):
    """``headline``: the answer in one sentence. ``details``: what else was shown. ``caveats``: what to know before believing it."""

    headline: str
    details: Sequence[str]
    caveats: Sequence[str]

    @property
    def sentences(self) -> list[str]:
        """All of them, the answer first."""
        return [self.headline, *self.details, *self.caveats]


def verdict_words(verdict: Verdict | None, sweep: FinishedSweep, *, primary: str | None = None) -> Words:
    """The verdict on ``sweep`` in words.

    ``verdict`` None means that nothing could be judged (no cell was scored, or no question is shared): then the headline says so.
    ``primary`` is the metric that was judged, where it is another than the recorded one; that is said too.
    """
    metric = primary or sweep.primary
    caveats = [*about_set(verdict, sweep), *about_cells(sweep)]
    if metric != sweep.primary:
        caveats.insert(
            0,
            f"{metric} was chosen after the results were seen; the sweep was to be decided by {sweep.primary}.",
        )
    if verdict is None or not verdict.standings:
        return Words(_nothing(sweep), [], caveats)
    details = [
        *_score(verdict, short(metric)),
        *_ruled_out(verdict),
        *_alike(verdict),
        *_how_much_more(verdict),
        *_expected(verdict),
    ]
    return Words(_headline(verdict), details, caveats)


def points(difference: float, *, sign: bool = False) -> str:
    """A difference of scores in points, hundredths of the scale: ``9.2 points``."""
    text = f"{100 * difference:+.1f}" if sign else f"{abs(100 * difference):.1f}"
    return text.replace("-", "−") + (" point" if text.lstrip("+-") == "1.0" else " points")


def limits(interval: Interval, *, scale: float = 1.0, digits: int = 3) -> str:
    """``0.718 to 0.803``; empty where there is no interval."""
    if interval.lo is None or interval.hi is None:
        return ""
    return " to ".join(
        f"{scale * value:.{digits}f}".replace("-", "−") for value in (interval.lo, interval.hi)
    )


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
        return (
            f"No winner can be named: {verdict.questions:,} questions about so few texts carry no interval. "
            f"{best.name} is the highest observed."
        )
    if verdict.winner is not None:
        second = next((s for s in others if s.status != "winner" and s.same_as != best.name), None)
        return f"{verdict.winner} is the best of {count}{_ahead(best, second)}."
    rivals = _rivals(verdict)
    scope = f"{len(rivals)} of {count}" if len(rivals) < count else "both" if count == 2 else f"all {count}"
    names = f" ({listed(rivals)})" if len(rivals) <= NAMED else ""
    return (
        f"No single winner: {scope} configurations can't be told apart{names}. "
        f"{best.name} is the highest observed."
    )


def _rivals(verdict: Verdict) -> list[str]:
    return [s.name for s in verdict.standings if s.status != "ruled out"]


def _score(verdict: Verdict, metric: str) -> list[str]:
    best = verdict.standings[0]
    between = f" ({limits(best.mean)})" if limits(best.mean) else ""
    return [f"{best.name} scores {metric} {best.mean.value:.3f}{between} on {verdict.questions:,} questions."]


def _ahead(best: Standing, second: Standing | None) -> str:
    if second is None:
        return ""
    between = limits(best.to_best, scale=100, digits=1)
    return f", {points(best.to_best.value)} ahead of {second.name}" + (f" ({between})" if between else "")


def _ruled_out(verdict: Verdict) -> list[str]:
    out = [s for s in verdict.standings if s.status == "ruled out"]
    lines = []
    rivals = _rivals(verdict)
    if verdict.method != "none" and NAMED < len(rivals) < len(verdict.standings):
        lines.append(f"Not ruled out are {listed(rivals)}.")
    if verdict.winner is not None and len(out) > 1:
        last = min(out, key=lambda s: s.to_best.value)
        lines.append(
            f"The other {len(out)} are ruled out; {last.name} is furthest behind, by {points(last.to_best.value)}."
        )
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
            f"{listed(unsure)} {verb} so close to the threshold that resampling does not settle whether to rule out."
        )
    return lines


def _alike(verdict: Verdict) -> list[str]:
    lines = [
        f"{s.name} answers every question as {s.same_as} does: the two count as one."
        for s in verdict.standings
        if s.same_as is not None
    ]
    safe = [
        s.name for s in verdict.standings[1:] if s.non_inferior and s.status != "winner" and s.same_as is None
    ]
    if safe:
        verb = "is" if len(safe) == 1 else "are"
        lines.append(
            f"{listed(safe)} {verb} shown to be less than {points(verdict.margin)} behind the best observed, "
            "and may be taken where cheaper."
        )
    elif sum(s.status == "not ruled out" for s in verdict.standings) > 1:
        lines.append(
            f"None of the others is shown to be less than {points(verdict.margin)} behind the best observed: "
            "not being ruled out is no proof of being as good."
        )
    return lines


def _how_much_more(verdict: Verdict) -> list[str]:
    lines = []
    needed = verdict.required_sample_size
    if needed is not None and verdict.winner is None:
        lines.append(
            f"About {_rounded(needed):,} questions of this kind would separate the two best at the difference observed now; "
            f"there are {verdict.questions:,}."
            if needed <= REALISTIC
            else "The two best are so close that no realistic number of questions would separate them."
        )
    if verdict.minimum_detectable_effect is not None and len(verdict.standings) > 1:
        lines.append(
            f"A true difference of {points(verdict.minimum_detectable_effect)} between two configurations is one that these "
            f"{verdict.questions:,} questions would show in four sweeps of five; of a smaller one, less often."
        )
    return lines


def _expected(verdict: Verdict) -> list[str]:
    if verdict.expected is None or verdict.optimism is None or len(verdict.standings) < 2:
        return []
    less = f", {points(verdict.optimism)} less than the score shown" if verdict.optimism >= 0.0005 else ""
    return [
        (
            f"On new questions about these documents, taking the highest of the {len(verdict.standings)} is expected to "
            f"score {verdict.expected:.3f}{less}."
        )
    ]


def _rounded(count: int) -> int:
    """To two leading digits: it is an estimate."""
    return round(count, 2 - len(str(count))) if count >= 100 else count
