"""A configuration picked from a sweep over the sample."""

from __future__ import annotations

from pathlib import Path

from workplace import Workplace

SAMPLE = Path(__file__).parents[2] / "data" / "handbook"


def pick(place: Workplace, *words: str):
    """Picks from the first sweep, whatever came after it; measures and registers nothing."""
    folder = min(file.parent for file in place.root.glob("outputs/*/*/sweep.json"))
    return place.run(
        f"sweep={folder}", "pick.measure=false", "pick.register=null", *words, module="harness.pick"
    )
