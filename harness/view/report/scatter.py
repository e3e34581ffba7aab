"""Quality against a cost: a point per cell, and the front of those that nothing cheaper reaches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.results.finished import FinishedCell
from harness.view.report.drawing import LETTER, Scale, dot, padded, picture, rule, ticks, written

# Three of them stand side by side.
WIDTH = 330.0
_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 34.0, 12.0, 24.0, 40.0, 250.0
# Names one above the other are so far apart.
_LINE = 13.0


class Point(NamedTuple):
    """A cell's place (in the order of the sweep's cells) with its cost and quality."""

    place: int
    name: str
    cost: float
    quality: float


def points(cells: Sequence[FinishedCell], cost: str, quality: str) -> list[Point]:
    """Those cells that have both figures."""
    found = (Point(i, cell.name, cell.metric(cost), cell.metric(quality)) for i, cell in enumerate(cells))
    return [point for point in found if math.isfinite(point.cost) and math.isfinite(point.quality)]


def front(found: Sequence[Point]) -> list[Point]:
    """The Pareto front, cheapest first: no other cell costs as little (or less) and scores as high (or higher)."""
    kept: list[Point] = []
    for point in sorted(found, key=lambda p: (p.cost, -p.quality)):
        if not kept or point.quality > kept[-1].quality:
            kept.append(point)
    return kept


def scatter(found: Sequence[Point], cost: str, quality: str) -> Markup | None:
    """The chart; None where all cells cost the same, as then there is nothing to weigh."""
    if len({point.cost for point in found}) < 2:
        return None
    low, high = padded((p.cost for p in found), 0.10)
    across = Scale(max(low, 0.0), high, _LEFT + 4, WIDTH - _RIGHT)
    low, high = padded((p.quality for p in found), 0.14)
    up = Scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    best = front(found)
    parts = [*_frame(across, up, cost, quality), _steps(best, across, up)]
    for point in sorted(found, key=lambda p: p in best):
        title = f"{point.name}: {quality} {point.quality:.3f}, {cost} {point.cost:,.4g}"
        size, css = (5.5, "dot") if point in best else (4.5, "dot faded")
        mark = dot(across(point.cost), up(point.quality), size, title, css)
        parts.append(Markup('<g class="c{}">{}</g>').format(point.place, mark))
    parts += _names(best, across, up)
    return picture(_HEIGHT, f"{quality} against {cost} of {len(found)} configurations.", parts, width=WIDTH)


def _frame(across: Scale, up: Scale, cost: str, quality: str) -> list[Markup]:
    foot, right = _HEIGHT - _BOTTOM, WIDTH - _RIGHT
    parts = []
    for value in ticks(up.low, up.high):
        parts += [
            rule(_LEFT, up(value), right, up(value)),
            written(_LEFT - 6, up(value) + 4, f"{value:g}", anchor="end"),
        ]
    parts.append(rule(_LEFT, foot, right, foot, "axis"))
    parts += [
        written(across(v), foot + 16, f"{v:,g}" if v < 1e6 else f"{v:,.0f}", anchor="middle")
        for v in ticks(across.low, across.high, 3)
    ]
    parts.append(written((_LEFT + right) / 2, foot + 33, f"{cost} →", anchor="middle", css="title"))
    return [*parts, written(_LEFT, 9, f"↑ {quality}", css="title")]


def _steps(best: Sequence[Point], across: Scale, up: Scale) -> Markup:
    """The front as stairs: what a given cost can buy."""
    path = f"M{across(best[0].cost)} {up(best[0].quality)}"
    for point in best[1:]:
        path += f"H{across(point.cost)}V{up(point.quality)}"
    return Markup('<path d="{}H{}" class="front"/>').format(path, WIDTH - _RIGHT)


def _names(best: Sequence[Point], across: Scale, up: Scale) -> list[Markup]:
    """Names of the front above their points, the best first; one that would run into another is left out."""
    parts: list[Markup] = []
    boxes: list[tuple[float, float, float]] = []
    for point in sorted(best, key=lambda p: -p.quality):
        half, y = LETTER * len(point.name) / 2, up(point.quality) - 10
        x = min(max(across(point.cost), _LEFT + half), WIDTH - half - 2)
        if any(abs(x - a) < half + other and abs(y - b) < _LINE for a, b, other in boxes):
            continue
        boxes.append((x, y, half))
        parts.append(written(x, y, point.name, anchor="middle", css="name plain"))
    return parts
