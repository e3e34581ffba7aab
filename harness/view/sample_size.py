"""What a number of questions can show, in sentences: detectable differences, margins, more questions."""

from __future__ import annotations

from harness.records import IntArray
from harness.results.earlier import MeasuredEffect
from harness.results.finished import FinishedSweep
from harness.verdict import LEVEL, Verdict
from harness.verdict.clusters import effective_clusters
from harness.verdict.power import (
    ASSUMED_DISCORDANCE,
    FEWEST_CLUSTERS,
    demonstrable_margin,
    minimum_detectable_effect,
    readable_margin,
)
from harness.view.formats import counted, points, rounded, short


def is_realistic(required: int, questions: int) -> bool:
    """Whether anybody would write so many questions: up to ten times as many as there are, or 5,000."""
    return required <= max(10 * questions, 5000)


def how_much_more(verdict: Verdict) -> list[str]:
    """How many questions would separate the two best, and which difference these would show."""
    lines = []
    needed, questions = verdict.required_sample_size, counted(verdict.questions, "question")
    if needed is not None and verdict.winner is None:
        lines.append(
            f"About {counted(rounded(needed), 'question')} of this kind would separate the two best at the "
            f"difference observed now; there are {verdict.questions:,}."
            if is_realistic(needed, verdict.questions)
            else "More questions will hardly separate the two best: as observed, they are as good as equal."
        )
    if verdict.minimum_detectable_effect is not None and len(verdict.standings) > 1:
        size = points(verdict.minimum_detectable_effect)
        lines.append(
            f"With {questions}, a difference of {size} between the two best would be found in 80% of sweeps."
        )
    return lines


def how_judged(verdict: Verdict, sweep: FinishedSweep, *, is_given: bool = False) -> list[str]:
    """How the margin was derived from the size of the set unless it was given, and the level of a look."""
    if verdict.method == "none" or len(verdict.standings) < 2:
        return []
    lines = []
    smallest = demonstrable_margin(verdict.questions, verdict.effective_clusters)
    matters = verdict.winner is None or any(standing.non_inferior for standing in verdict.standings[1:])
    if matters and not is_given and verdict.margin == readable_margin(smallest):
        of = f"{counted(verdict.questions, 'question')} about {counted(verdict.clusters, 'text')}"
        lines.append(
            f"{of} can hardly exclude a loss of less than {points(verdict.margin)}, so that is the margin. "
            "pick.margin= sets another."
        )
    if verdict.level < LEVEL:
        lines.append(
            f"This is look {sweep.look.number} at a golden set that grew. Limits of differences are at "
            f"{1 - 2 * verdict.level:.1%} instead of 95%, so that all later looks together err in at most 5%."
        )
    return lines


def detectable(clusters: IntArray, measured: MeasuredEffect | None, metric: str) -> tuple[str, float | None]:
    """The difference that is found in 80% of sweeps, in a sentence and as a number.

    ``clusters``: int64 (questions,). The number is None for fewer than ten effective clusters, and where it
    is larger than what is assumed without a measurement.
    """
    questions, effective = len(clusters), effective_clusters(clusters)
    of = f"{counted(questions, 'question')} about {counted(len(set(clusters.tolist())), 'text')}"
    if effective < FEWEST_CLUSTERS:
        return f"{of[0].upper() + of[1:]} are too few for any verdict.", None
    if measured:
        found = f"{points(measured.effect)} in {short(measured.metric)} would be found in 80% of sweeps"
        return f"With {of}, a difference of {found}, as measured in '{measured.sweep}'.", measured.effect
    effect = minimum_detectable_effect(questions, effective)
    least = "a difference of" if effect else "not even a difference of"
    found = f"{points(effect or ASSUMED_DISCORDANCE)} in {short(metric)} would be found in 80% of sweeps"
    assumed = f"assuming that two cells differ on {ASSUMED_DISCORDANCE:.0%} of the questions"
    return f"With {of}, {least} {found}, {assumed}.", effect
