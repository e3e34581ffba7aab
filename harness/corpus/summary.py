"""The notes of a corpus as a few lines for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_STILL_THERE = {"same text": "; all are kept, name such copies as alternatives"}


def summary(notes: Mapping[str, Sequence[str]], names: int = 3) -> list[str]:
    """One line per kind of finding: how many, and at most ``names`` of them by name.

    ``empty (15): a.md, b.md, c.md and 12 more``. Equal texts are documents still, and their line says so. No lines when there are
    no notes.
    """
    lines = []
    for kind, concerned in notes.items():
        more = len(concerned) - names
        shown = ", ".join(_one_line(name) for name in concerned[:names])
        tail = f" and {more:,} more" if more > 0 else ""
        lines.append(f"{kind} ({len(concerned):,}): {shown}{tail}{_STILL_THERE.get(kind, '')}")
    return lines


def _one_line(name: str) -> str:
    """A name without line breaks or control characters: file names may hold both."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
