"""The plots: recall over what is read, a line per cell; quality against a cost, a point per cell."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.results.finished import FinishedCell
from harness.view.formats import counted
from harness.view.report.drawing import (
    BOLD,
    LETTER,
    WIDTH,
    Scale,
    apart,
    drawn,
    folded,
    padded,
    ticks,
)

# Of more lines, the best and the worst keep colour and name; the others are thin and grey.
MOST, BEST = 8, 6
_LEFT, _TOP, _BOTTOM = 30.0, 12.0, 40.0
# Room for the names at the ends of lines, and the height of a name.
_ROOM, _STEP = 130.0, 14.0
# Three scatter plots stand side by side; their names are so far apart.
_NARROW, _HEIGHT, _GAP = 330.0, 250.0, 13.0


class RecallLine(NamedTuple):
    """The recall of the cells ``names``, which coincide; the first one's ``place`` gives the colour."""

    points: tuple[tuple[int, float], ...]
    names: Sequence[str]
    place: int

    @property
    def label(self) -> list[str]:
        """The first name, in two lines if need be, and how many more there are."""
        more = len(self.names) - 1
        return folded(self.names[0]) + ([f"and {more} more"] if more else [])


def recall_lines(cells: Mapping[str, Mapping[str, float]], pattern: str, label: str) -> Markup | None:
    """Lines of the metrics that match ``pattern`` over the number in it; None where no cell has two of them.

    ``cells``: name to metrics, best first; their places give their colours. Lines that coincide are one,
    with the number of cells.
    """
    lines = _lines(cells, pattern)
    if not lines:
        return None
    grey = lines[BEST:-1] if len(lines) > MOST else []
    named = [line for line in lines if line not in grey]
    xs = sorted({x for line in lines for x, _ in line.points})
    room = 10 + BOLD * max(len(part) for line in named for part in line.label)
    height = max(270.0, _TOP + _BOTTOM + sum(_STEP * len(line.label) for line in named))
    across = Scale(xs[0], xs[-1], _LEFT + 8, WIDTH - min(_ROOM, room) - 6, is_log=True)
    low, high = padded(y for line in lines for _, y in line.points)
    up = Scale(max(0.0, low), min(1.0, high), height - _BOTTOM, _TOP)
    ordered = sorted(named, key=lambda line: -line.points[-1][1])
    ends = [up(line.points[-1][1]) for line in ordered]
    places = apart(ends, _STEP * max(len(line.label) for line in named), up.end, up.start)
    return drawn(
        "recall.svg.j2",
        width=WIDTH + max(0.0, room - _ROOM),
        height=height,
        said=f"Recall over {label} of {counted(len(cells), 'configuration')}.",
        across=across,
        up=up,
        left=_LEFT,
        marks=[(x, f"{x:,}") for x in xs],
        label=label,
        grey=grey,
        named=named,
        ends=list(zip(ordered, ends, places, strict=True)),
        step=_STEP,
    )


def left_grey(cells: Mapping[str, Mapping[str, float]], pattern: str) -> int:
    """How many cells' lines are thin and grey, without a name."""
    lines = _lines(cells, pattern)
    return sum(len(line.names) for line in lines[BEST:-1]) if len(lines) > MOST else 0


def _lines(cells: Mapping[str, Mapping[str, float]], pattern: str) -> list[RecallLine]:
    names, found = list(cells), dict[tuple[tuple[int, float], ...], list[int]]()
    for place, metrics in enumerate(cells.values()):
        matches = ((re.fullmatch(pattern, name), value) for name, value in metrics.items())
        points = sorted((int(m[1]), float(value)) for m, value in matches if m and math.isfinite(value))
        if len(points) > 1:
            found.setdefault(tuple(points), []).append(place)
    return [RecallLine(points, [names[i] for i in places], places[0]) for points, places in found.items()]


class CostPoint(NamedTuple):
    """A cell's place (in the order of the sweep's cells) with its cost and quality."""

    place: int
    name: str
    cost: float
    quality: float


def cost_points(cells: Sequence[FinishedCell], cost: str, quality: str) -> list[CostPoint]:
    """Those cells that have both figures."""
    found = (CostPoint(i, cell.name, cell.metric(cost), cell.metric(quality)) for i, cell in enumerate(cells))
    return [point for point in found if math.isfinite(point.cost) and math.isfinite(point.quality)]


def front(found: Sequence[CostPoint]) -> list[CostPoint]:
    """The Pareto front, cheapest first: nothing that costs as little scores as high."""
    best: list[CostPoint] = []
    for point in sorted(found, key=lambda p: (p.cost, -p.quality)):
        if not best or point.quality > best[-1].quality:
            best.append(point)
    return best


def scatter(found: Sequence[CostPoint], cost: str, quality: str) -> Markup | None:
    """Quality against a cost; None where all cells cost the same, as then there is nothing to weigh."""
    if len({point.cost for point in found}) < 2:
        return None
    left, right = _LEFT + 4, _NARROW - 12
    low, high = padded((p.cost for p in found), 0.10)
    across = Scale(max(low, 0.0), high, left + 4, right)
    low, high = padded((p.quality for p in found), 0.14)
    up = Scale(low, high, _HEIGHT - _BOTTOM, 2 * _TOP)
    best = front(found)
    marks = [(v, f"{v:,g}" if v < 1e6 else f"{v:,.0f}") for v in ticks(across.low, across.high, 3)]
    return drawn(
        "scatter.svg.j2",
        width=_NARROW,
        height=_HEIGHT,
        said=f"{quality} against {cost} of {counted(len(found), 'configuration')}.",
        across=across,
        up=up,
        left=left,
        right=right,
        marks=marks,
        cost=cost,
        quality=quality,
        best=best,
        points=sorted(found, key=lambda p: p in best),
        names=_front_names(best, across, up),
    )


def _front_names(best: Sequence[CostPoint], across: Scale, up: Scale) -> list[tuple[float, float, str]]:
    """Names of the front above their points, the best first; one that would run into another is left out."""
    names: list[tuple[float, float, str]] = []
    boxes: list[tuple[float, float, float]] = []
    for point in sorted(best, key=lambda p: -p.quality):
        half, y = LETTER * len(point.name) / 2, up(point.quality) - 10
        x = min(max(across(point.cost), across.start - 4 + half), _NARROW - half - 2)
        if any(abs(x - a) < half + other and abs(y - b) < _GAP for a, b, other in boxes):
            continue
        boxes.append((x, y, half))
        names.append((x, y, point.name))
    return names
