"""What is said by ``gate``: in the terminal, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.decision.gate import Gated, LostQuestion
from harness.metrics.operating_point import OperatingPoint
from harness.verdict.change import Change
from harness.view.formats import counted, point_limits, points, returned, rounded, short
from harness.view.recorded import SHOWN, TOO_FEW, in_full, left_out
from harness.view.sample_size import is_realistic


def gate_sentences(gated: Gated, recorded: Mapping[str, Any], *, warns: bool) -> list[str]:
    """The outcome first, then what it rests on and what would decide."""
    change, difference = gated.change, gated.change.difference
    between = point_limits(difference)
    now = recorded["score"] + difference.value
    name, point = short(recorded["primary"]), OperatingPoint(**recorded["operating_point"])
    said = []
    if change.outcome == "unchanged":
        said.append(
            f"Passed, unchanged: {_all(gated.questions)} the same "
            f"{'rows within ' if point.k is None else ''}{returned(point)}, "
            f"and {name} is the same."
        )
    else:
        limits_said = f", 90% limits {between}" if between else ""
        said.append(
            f"{_headline(change, warns=warns)}: {name} {recorded['score']:.3f} → {now:.3f} "
            f"({points(difference.value, sign=True)}{limits_said})."
        )
        if gated.other_rows is not None:
            said.append(f"{gated.other_rows:,} of {counted(gated.questions, 'question')} return other rows.")
        said.append(f"{counted(change.better, 'question')} better, {change.worse:,} worse.")
    if change.outcome == "undecided":
        said += _undecided(change, gated.questions, warns=warns)
    elif change.outcome == "regression":
        said.append(
            "Undo the change if its loss is not wanted. Else sweep and pick again: python -m harness.pick"
        )
    return said + _left_out(gated)


def _all(questions: int) -> str:
    return "the question returns" if questions == 1 else f"all {questions:,} questions return"


def _headline(change: Change, *, warns: bool) -> str:
    if change.outcome == "undecided":
        return "Passed with a warning, undecided" if warns else "Undecided"
    return (
        "Regression" if change.outcome == "regression" else f"Not worse by more than {points(change.margin)}"
    )


def _undecided(change: Change, questions: int, *, warns: bool) -> list[str]:
    lo, least = change.difference.lo, change.least_loss
    if lo is None or least is None:
        return [f"{TOO_FEW}: ask about more documents."]
    said = [f"This excludes a loss of more than {points(-lo)}, and shows none."]
    if change.is_too_small and warns:
        said.append(
            f"So few questions exclude {points(least)} at best, so undecided is a warning. "
            "gate.undecided=fail makes it exit code 3."
        )
    else:
        said.append(f"To pass, {points(change.margin)} must be excluded; gate.margin= sets another margin.")
    if needed := change.required_sample_size:
        said.append(
            f"About {counted(rounded(needed), 'question')} would decide, if the difference stayed as it is. "
            "Questions that are added count from the next python -m harness.pick on."
            if is_realistic(needed, questions)
            else "More questions will hardly decide, if the difference stays as it is."
        )
    return said


def _left_out(gated: Gated) -> list[str]:
    said = left_out(gated.left_out)
    if gated.new:
        verb = "was" if gated.new == 1 else "were"
        said.append(f"{counted(gated.new, 'question')} {verb} added later and {verb} left out.")
    return said


def gate_table(lost: Sequence[LostQuestion]) -> list[str]:
    """The questions that lost most, each with its text, its evidence and the row that comes first now."""
    lines = []
    for question in lost[:SHOWN]:
        cited = {"evidence": question.evidence, "first row": question.first_row}
        head = f"{question.question_id}  {question.before:.3f} → {question.after:.3f}"
        lines += in_full(head, question.question, cited)
    head = f"Lost most ({min(SHOWN, len(lost))} of {len(lost):,}):"
    return ["", head, *lines] if lost else []


def gate_content(gated: Gated) -> dict[str, Any]:
    """The figures as plain values for scripts."""
    change = gated.change
    return {
        "questions": gated.questions,
        "other_rows": gated.other_rows,
        "margin": change.margin,
        "difference": change.difference.value,
        "limits_90": [change.difference.lo, change.difference.hi],
        "better": change.better,
        "worse": change.worse,
        "left_out": dict(gated.left_out),
        "new": gated.new,
        "lost": [question._asdict() for question in gated.lost],
    }
