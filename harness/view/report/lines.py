"""Recall over what is read, a line per cell, named at its end."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.results.finished import FinishedCell
from harness.view.report.drawing import (
    LETTER,
    WIDTH,
    Scale,
    apart,
    dot,
    folded,
    padded,
    picture,
    rule,
    ticks,
    written,
)

# Of more lines, the best and the worst keep colour and name; the others are thin and grey.
MOST, BEST = 8, 6
_LEFT, _TOP, _BOTTOM, _STEP = 30.0, 12.0, 40.0, 14.0


class _Line(NamedTuple):
    points: tuple[tuple[int, float], ...]
    names: Sequence[str]
    place: int

    @property
    def label(self) -> list[str]:
        more = len(self.names) - 1
        return folded(self.names[0]) + ([f"and {more} more"] if more else [])


def recall_lines(cells: Sequence[FinishedCell], pattern: str, label: str) -> Markup | None:
    """Lines of the metrics that match ``pattern`` over the number in it; None where no cell has two of them.

    ``cells``: best first; their places give their colours. Lines that coincide are one, with the number of cells.
    """
    lines = _lines(cells, pattern)
    if not lines:
        return None
    named = lines if len(lines) <= MOST else [*lines[:BEST], lines[-1]]
    grey = [] if len(lines) <= MOST else lines[BEST:-1]
    xs = sorted({x for line in lines for x, _ in line.points})
    room = min(130.0, 10 + LETTER * max(len(part) for line in named for part in line.label))
    taken = sum(_STEP * len(line.label) for line in named)
    height = max(270.0, _TOP + _BOTTOM + taken)
    across = Scale(xs[0], xs[-1], _LEFT + 8, WIDTH - room - 6, is_log=True)
    low, high = padded(y for line in lines for _, y in line.points)
    up = Scale(max(0.0, low), min(1.0, high), height - _BOTTOM, _TOP)
    parts = [*_frame(xs, across, up, height, label)]
    parts += [_drawn(line, across, up, thin=True) for line in grey]
    parts += [_drawn(line, across, up, thin=False) for line in reversed(named)]
    parts += _names(named, across.end, up, height)
    said = f"Recall over {label} of {len(cells)} configurations."
    return picture(height, said, parts)


def left_grey(cells: Sequence[FinishedCell], pattern: str) -> int:
    """How many cells' lines are thin and grey, without a name."""
    return (
        sum(len(line.names) for line in _lines(cells, pattern)[BEST:-1])
        if len(_lines(cells, pattern)) > MOST
        else 0
    )


def _lines(cells: Sequence[FinishedCell], pattern: str) -> list[_Line]:
    found: dict[tuple[tuple[int, float], ...], list[int]] = {}
    for place, cell in enumerate(cells):
        matches = ((re.fullmatch(pattern, name), value) for name, value in cell.content["metrics"].items())
        points = sorted((int(m[1]), float(value)) for m, value in matches if m and math.isfinite(value))
        if len(points) > 1:
            found.setdefault(tuple(points), []).append(place)
    return [_Line(points, [cells[i].name for i in places], places[0]) for points, places in found.items()]


def _frame(xs: Sequence[int], across: Scale, up: Scale, height: float, label: str) -> list[Markup]:
    parts = []
    for value in ticks(up.low, up.high):
        parts += [
            rule(_LEFT, up(value), across.end + 6, up(value)),
            written(
                _LEFT - 6,
                up(value) + 4,
                f"{value:.1f}".rstrip("0").rstrip(".") if round(value, 1) == value else f"{value:g}",
                anchor="end",
            ),
        ]
    foot = height - _BOTTOM
    parts.append(rule(_LEFT, foot, across.end + 6, foot, "axis"))
    parts += [written(across(x), foot + 16, f"{x:,}", anchor="middle") for x in xs]
    return [*parts, written((_LEFT + across.end) / 2, foot + 33, label, anchor="middle", css="title")]


def _drawn(line: _Line, across: Scale, up: Scale, *, thin: bool) -> Markup:
    places = [(across(x), up(y)) for x, y in line.points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    stroke = Markup('<path d="{}" class="{}"><title>{}</title></path>').format(
        path, "thin" if thin else "line", ", ".join(line.names)
    )
    if thin:
        return stroke
    dots = [
        dot(x, y, 3.2, f"{', '.join(line.names)}: {value:.3f} at {at:,}")
        for (x, y), (at, value) in zip(places, line.points, strict=True)
    ]
    return Markup('<g class="c{}">{}{}</g>').format(line.place, stroke, Markup("").join(dots))


def _names(lines: Sequence[_Line], end: float, up: Scale, height: float) -> list[Markup]:
    """The names beside the ends of their lines, pushed apart, each tied to its end."""
    ordered = sorted(lines, key=lambda line: -line.points[-1][1])
    most = max(len(line.label) for line in ordered)
    ends = [up(line.points[-1][1]) for line in ordered]
    places = apart(ends, _STEP * most, _TOP, height - _BOTTOM)
    parts = []
    for line, at, place in zip(ordered, ends, places, strict=True):
        tie = rule(end + 4, at, end + 12, place, "tie")
        first = place + 4 - _STEP * (len(line.label) - 1) / 2
        texts = [written(end + 15, first + _STEP * i, part, css="name") for i, part in enumerate(line.label)]
        parts.append(Markup('<g class="c{}">{}{}</g>').format(line.place, tie, Markup("").join(texts)))
    return parts
