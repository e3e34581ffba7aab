"""Where the time of each cell went, as bars of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

# In the order in which a cell passes through them; a letter draws a stage's share of the bar.
STAGES = {
    "load": "l",
    "chunk": "c",
    "embed": "E",
    "index": "i",
    "search": "s",
    "metrics": "m",
    "write": "w",
    "track": "t",
}
BAR = 30


def profile(contents: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line per cell: seconds in all and a bar whose letters show each stage's share; then the sum of every stage."""
    if not contents:
        return []
    size = max(cell_len(content["name"]) for content in contents)
    spent = [
        {stage: content["timing"].get(f"{stage}_seconds", 0.0) for stage in STAGES} for content in contents
    ]
    longest = max(sum(stages.values()) for stages in spent) or 1.0
    lines = ["", "Where the time went:"]
    for content, stages in zip(contents, spent, strict=True):
        name = content["name"] + " " * (size - cell_len(content["name"]))
        lines.append(f"  {name}  {sum(stages.values()):>7.2f} s  {_bar(stages, longest)}")
    totals = {stage: sum(stages[stage] for stages in spent) for stage in STAGES}
    everything = sum(totals.values()) or 1.0
    lines += [
        "",
        "  "
        + "  ".join(
            f"{STAGES[stage]} {stage} {value:.2f} s" for stage, value in totals.items() if value >= 0.005
        ),
    ]
    lines.append(f"  everything but embedding: {1 - totals['embed'] / everything:.0%} of {everything:.1f} s")
    return lines


def _bar(stages: Mapping[str, float], longest: float) -> str:
    """A bar as long as the cell took, the longest ``BAR`` characters; each stage's end is rounded to a whole one."""
    bar, done = "", 0.0
    for stage, value in stages.items():
        done += value
        bar += STAGES[stage] * (round(BAR * done / longest) - len(bar))
    return bar
