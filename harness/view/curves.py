"""Lines of recall over what is read, one per cell: few enough in colour that each can be named."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.view.canvas import GREY, INK, TEXT, empty

# More lines than that can't be told apart: then the best and the one worst keep colour and name.
MOST, BEST = 8, 6
# As many names of cells whose lines coincide are written out.
_SPELT = 2


class _Line(NamedTuple):
    points: tuple[tuple[int, float], ...]
    names: Sequence[str]
    color: str

    @property
    def label(self) -> str:
        more = len(self.names) - _SPELT
        return ", ".join(self.names[:_SPELT]) + (f" and {more} more" if more > 0 else "")


def curves(cells: Sequence[Mapping[str, Any]], primary: str, pattern: str, label: str) -> Any | None:
    """Lines of recall over what the pattern's number counts, named at their right ends; None below two points.

    Lines that coincide are one with the names of all. Of more than eight, the six best by the ``primary`` metric and the
    worst are drawn in their colours; the others are thin and grey, and how many cells they are is said above.
    """
    lines = _lines(cells, primary, pattern)
    if not lines:
        return None
    named = lines if len(lines) <= MOST else [*lines[:BEST], lines[-1]]
    grey = [] if len(lines) <= MOST else lines[BEST:-1]
    figure, axis = empty(8.0, max(4.4, 1.2 + 0.26 * len(named)))
    for line in grey:
        axis.plot(*zip(*line.points, strict=True), color=GREY, linewidth=0.7)
    for line in named:
        axis.plot(*zip(*line.points, strict=True), color=line.color, linewidth=2, marker="o", markersize=4)
    xs = sorted({x for line in lines for x, _ in line.points})
    axis.set_xscale("log")
    axis.set_xticks(xs, [f"{x:,}" for x in xs])
    axis.minorticks_off()
    axis.set_xlabel(label, fontsize=TEXT)
    axis.set_ylabel("share of the evidence read (recall)", fontsize=TEXT)
    if grey:
        _say_grey(axis, sum(len(line.names) for line in grey))
    _name_ends(axis, named)
    return figure


def _say_grey(axis: Any, count: int) -> None:
    cells = "cell" if count == 1 else "cells"
    text = f"best {BEST} and worst in colour, {count} more {cells} in grey"
    axis.set_title(text, fontsize=TEXT - 2, loc="left", color=INK)


def _lines(cells: Sequence[Mapping[str, Any]], primary: str, pattern: str) -> list[_Line]:
    """The different lines with the names of their cells, best first."""

    def rank(cell: Mapping[str, Any]) -> float:
        value = cell["metrics"].get(primary, math.nan)
        return -value if math.isfinite(value) else math.inf

    lines: dict[tuple[tuple[int, float], ...], list[Mapping[str, Any]]] = {}
    for cell in sorted(cells, key=rank):
        points = _points(cell["metrics"], pattern)
        if len(points) > 1:
            lines.setdefault(points, []).append(cell)
    return [
        _Line(points, [str(cell["name"]) for cell in same], str(same[0]["color"]))
        for points, same in lines.items()
    ]


def _points(metrics: Mapping[str, float], pattern: str) -> tuple[tuple[int, float], ...]:
    found = ((re.fullmatch(pattern, name), value) for name, value in metrics.items())
    return tuple(
        sorted((int(match.group(1)), value) for match, value in found if match and math.isfinite(value))
    )


def _name_ends(axis: Any, lines: Sequence[_Line]) -> None:
    """Writes names beside the ends of their lines, pushed apart so that no two overlap."""
    ordered = sorted(lines, key=lambda line: line.points[-1][1])
    low, high = axis.get_ylim()
    step = 0.052 * (high - low) * 4.4 / axis.figure.get_figheight()
    places: list[float] = []
    for line in ordered:
        end = line.points[-1][1]
        places.append(max(end, places[-1] + step) if places else end)
    # Names that were pushed above the frame are moved down together.
    sink = max(0.0, places[-1] - high)
    for line, place in zip(ordered, places, strict=True):
        axis.annotate(
            line.label,
            xy=line.points[-1],
            xytext=(1.02, place - sink),
            textcoords=axis.get_yaxis_transform(),
            va="center",
            fontsize=TEXT - 1,
            color=INK,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": line.color,
                "linewidth": 0.8,
                "relpos": (0, 0.5),
                "shrinkA": 2,
            },
        )
