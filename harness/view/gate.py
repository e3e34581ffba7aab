"""What the gate says: in the terminal, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.verdict.change import Change
from harness.view.table import short
from harness.view.verdict_words import limits, points

# Questions that lost most, in table and file.
SHOWN = 10
_HEADLINE = {
    "non-inferior": "Shown to be non-inferior",
    "regression": "Regression",
    "undecided": "Undecided",
}


def sentences(change: Change, recorded: Mapping[str, Any], margin: float, lost: int, new: int) -> list[str]:
    """The outcome first, then what it rests on and what would decide."""
    now = recorded["score"] + change.difference.value
    moved = f"{short(recorded['primary'])} {recorded['score']:.3f} → {now:.3f} ({points(change.difference.value, sign=True)}"
    between = limits(change.difference, scale=100, digits=1)
    moved += f", 95%: {between})" if between else ")"
    said = [f"{_HEADLINE[change.outcome]}: {moved}. {change.better} questions better, {change.worse} worse."]
    if change.outcome == "undecided":
        said.append(_undecided(change, margin))
    if lost:
        noun = "evidence is" if lost == 1 else "evidences are"
        said.append(f"{lost} {noun} changed or gone in these documents and counted as not found.")
    if new:
        said.append(f"{new} questions were not there when the scores were recorded; they are left out.")
    return said


def table(worst: Sequence[tuple[str, float, float]]) -> list[str]:
    """The questions that lost most."""
    if not worst:
        return []
    width = max(len(question_id) for question_id, _, _ in worst)
    return [
        "",
        "lost most",
        *(f"  {name:<{width}}  {before:.3f} → {after:.3f}" for name, before, after in worst),
    ]


def markdown(path: Path, said: Sequence[str], worst: Sequence[tuple[str, float, float]]) -> str:
    """The same as Markdown."""
    rows = [f"| {name} | {before:.3f} | {after:.3f} |" for name, before, after in worst]
    lost = ["| lost most | before | now |", "|---|---:|---:|", *rows] if rows else []
    parts = [f"### Retrieval gate: {said[0]}", *said[1:], "\n".join(lost), f"Compared with `{path.name}`."]
    return "\n\n".join(part for part in parts if part) + "\n"


def markdown_not_comparable(path: Path, reason: str) -> str:
    """That nothing was compared, and why."""
    return f"### Retrieval gate: not comparable\n\n{reason}\n\nCompared with `{path.name}`.\n"


def _undecided(change: Change, margin: float) -> str:
    if change.difference.lo is None:
        return "The questions are about too few texts for an interval: ask about more documents."
    return f"A loss of more than {points(margin)} is not excluded, and none is shown." + (
        f" About {change.required_sample_size:,} questions would decide, if the difference stayed as it is."
        if change.required_sample_size
        else ""
    )
