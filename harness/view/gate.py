"""What is said by ``gate``: in the terminal, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.decision.gate import Gated, LostQuestion
from harness.verdict.change import Change
from harness.view.formats import cell_text, counted, point_limits, points, short
from harness.view.recorded import SHOWN, TOO_FEW, in_full, left_out


def is_too_small(change: Change, margin: float) -> bool:
    """Whether not even an unchanged result on so many questions would exclude a loss of ``margin``."""
    return change.least_loss is None or change.least_loss > margin


def gate_sentences(gated: Gated, recorded: Mapping[str, Any], margin: float, *, warns: bool) -> list[str]:
    """The outcome first, then what it rests on and what would decide."""
    change, difference = gated.change, gated.change.difference
    between = point_limits(difference)
    now = recorded["score"] + difference.value
    name, k = short(recorded["primary"]), recorded["k"]
    said = []
    if change.outcome == "unchanged":
        said.append(
            f"Passed, unchanged: all {counted(gated.questions, 'question')} return the same {k} rows, "
            f"and {name} is the same."
        )
    else:
        limits_said = f", 90% limits {between}" if between else ""
        said.append(
            f"{_headline(change, margin, warns=warns)}: {name} {recorded['score']:.3f} → {now:.3f} "
            f"({points(difference.value, sign=True)}{limits_said})."
        )
        if gated.other_rows is not None:
            said.append(f"{gated.other_rows:,} of {counted(gated.questions, 'question')} return other rows.")
        said.append(f"{counted(change.better, 'question')} better, {change.worse:,} worse.")
    if change.outcome == "undecided":
        said += _undecided(change, margin)
    return said + _left_out(gated)


def _headline(change: Change, margin: float, *, warns: bool) -> str:
    if change.outcome == "undecided":
        return "Passed with a warning, undecided" if warns else "Undecided"
    return "Regression" if change.outcome == "regression" else f"Not worse by more than {points(margin)}"


def _undecided(change: Change, margin: float) -> list[str]:
    lo, least = change.difference.lo, change.least_loss
    if lo is None or least is None:
        return [f"{TOO_FEW}: ask about more documents."]
    said = [f"This excludes a loss of more than {points(-lo)}, and shows none."]
    if least > margin:
        said.append(
            f"So few questions exclude {points(least)} at best, so gate.margin={margin:g} can't be shown. "
            "gate.undecided=fail makes this exit code 3."
        )
    if change.required_sample_size:
        size = counted(change.required_sample_size, "question")
        said.append(f"About {size} would decide, if the difference stayed as it is.")
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


def gate_content(gated: Gated, said: Sequence[str]) -> dict[str, Any]:
    """The outcome as plain values for scripts."""
    change = gated.change
    return {
        "outcome": change.outcome,
        "sentences": list(said),
        "questions": gated.questions,
        "other_rows": gated.other_rows,
        "difference": change.difference.value,
        "limits_90": [change.difference.lo, change.difference.hi],
        "better": change.better,
        "worse": change.worse,
        "left_out": dict(gated.left_out),
        "new": gated.new,
        "lost": [question._asdict() for question in gated.lost],
    }


def gate_markdown(path: Path, content: Mapping[str, Any]) -> str:
    """What ``gate_content`` holds as Markdown."""
    first, *others = content["sentences"]
    rows = [
        f"| {cell_text(q['question_id'])} | {q['before']:.3f} | {q['after']:.3f} | "
        + " | ".join(cell_text(q[key]) for key in ("question", "evidence", "first_row"))
        + " |"
        for q in content.get("lost", ())[:SHOWN]
    ]
    heads = ["| lost most | before | now | question | evidence | first row |", "|---|---:|---:|---|---|---|"]
    table = "\n".join([*heads, *rows]) if rows else ""
    parts = [f"### Retrieval gate: {first}", *others, table, f"Compared with `{path.name}`."]
    return "\n\n".join(part for part in parts if part) + "\n"
