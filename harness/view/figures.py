"""The three figures of a sweep as PNG files: recall over k, recall over tokens, the primary metric by the first two axes.

Figures are made from plain values and never touch pyplot, whose state is shared by the whole process.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_DPI = 150
_TEXT = 10
_INK = "#2b2f36"
_GRID = "#e3e6ea"


def write_figures(
    cells: Sequence[Mapping[str, Any]], axes: Mapping[str, Sequence[str]], primary: str, folder: Path
) -> list[Path]:
    """Draws what makes sense for these cells into ``folder`` and gives the paths.

    ``cells``: finished cells, each with ``name``, ``color`` (``#rrggbb``), ``params`` and ``metrics`` (flat names).
    ``axes``: the swept settings with their values. ``recall_over_k.png`` needs recall at two k, ``recall_over_tokens.png``
    at two budgets. Two swept settings or more give ``heatmap.png`` of ``primary`` over the first two (the best of the
    others), one gives ``bars.png``, none gives neither.
    """
    if not cells:
        return []
    drawn = [
        (_curves(cells, r"recall_at_(\d+)", "k (chunks read)"), "recall_over_k.png"),
        (_curves(cells, r"recall_at_(\d+)_tokens", "tokens of context read"), "recall_over_tokens.png"),
    ]
    swept = [name for name, values in axes.items() if len(values) > 1]
    if len(swept) >= 2:
        drawn.append((_heatmap(cells, axes, swept[:2], primary), "heatmap.png"))
    elif swept:
        drawn.append((_bars(cells, primary), "bars.png"))
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for figure, name in drawn:
        if figure is not None:
            path = folder / name
            # Fixed metadata: the same values give the same bytes.
            figure.savefig(path, dpi=_DPI, metadata={"Software": None})
            paths.append(path)
    return paths


def _curves(cells: Sequence[Mapping[str, Any]], pattern: str, label: str) -> Any | None:
    """Lines of recall over what the pattern's number counts, named at their right ends; None below two points."""
    lines = [(cell, _points(cell["metrics"], pattern)) for cell in cells]
    lines = [(cell, points) for cell, points in lines if len(points) > 1]
    if not lines:
        return None
    figure, axis = _empty(8.0, max(4.4, 1.2 + 0.26 * len(lines)))
    for cell, points in lines:
        axis.plot(*zip(*points, strict=True), color=cell["color"], linewidth=2, marker="o", markersize=4)
    xs = sorted({x for _, points in lines for x, _ in points})
    axis.set_xscale("log")
    axis.set_xticks(xs, [f"{x:,}" for x in xs])
    axis.minorticks_off()
    axis.set_xlabel(label, fontsize=_TEXT)
    axis.set_ylabel("share of the evidence read (recall)", fontsize=_TEXT)
    _name_ends(axis, lines)
    return figure


def _points(metrics: Mapping[str, float], pattern: str) -> list[tuple[int, float]]:
    found = ((re.fullmatch(pattern, name), value) for name, value in metrics.items())
    return sorted((int(match.group(1)), value) for match, value in found if match and math.isfinite(value))


def _name_ends(axis: Any, lines: Sequence[tuple[Mapping[str, Any], list[tuple[int, float]]]]) -> None:
    """Writes each cell's name beside the end of its line, pushed apart so that no two overlap."""
    ordered = sorted(lines, key=lambda line: line[1][-1][1])
    low, high = axis.get_ylim()
    step = 0.052 * (high - low) * 4.4 / axis.figure.get_figheight()
    places: list[float] = []
    for _, points in ordered:
        places.append(max(points[-1][1], places[-1] + step) if places else points[-1][1])
    # Names that were pushed above the frame are moved down together.
    sink = max(0.0, places[-1] - high)
    for (cell, points), place in zip(ordered, places, strict=True):
        axis.annotate(
            cell["name"],
            xy=points[-1],
            xytext=(1.02, place - sink),
            textcoords=axis.get_yaxis_transform(),
            va="center",
            fontsize=_TEXT - 1,
            color=_INK,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": cell["color"],
                "linewidth": 0.8,
                "relpos": (0, 0.5),
                "shrinkA": 2,
            },
        )


def _heatmap(
    cells: Sequence[Mapping[str, Any]], axes: Mapping[str, Sequence[str]], swept: Sequence[str], primary: str
) -> Any:
    """The primary metric by two settings; an empty field where no cell finished."""
    import numpy as np

    rows, columns = (list(axes[name]) for name in swept)
    grid = np.full((len(rows), len(columns)), np.nan)
    for cell in cells:
        place = [str(cell["params"].get(name)) for name in swept]
        value = cell["metrics"].get(primary, math.nan)
        if place[0] in rows and place[1] in columns and math.isfinite(value):
            i, j = rows.index(place[0]), columns.index(place[1])
            grid[i, j] = np.fmax(grid[i, j], value)
    figure, axis = _empty(max(5.0, 2.2 + 1.1 * len(columns)), max(3.0, 1.6 + 0.62 * len(rows)), grid=False)
    low, high = _range(grid)
    axis.imshow(grid, cmap="Blues", vmin=low - 0.15 * (high - low), vmax=high, aspect="auto")
    for (i, j), value in np.ndenumerate(grid):
        dark = math.isfinite(value) and value > low + 0.6 * (high - low)
        text = f"{value:.3f}" if math.isfinite(value) else "–"
        weight = "bold" if value == high else "normal"
        axis.text(
            j, i, text, ha="center", va="center", fontsize=11, weight=weight, color="white" if dark else _INK
        )
    axis.set_xticks(range(len(columns)), columns, fontsize=_TEXT)
    axis.set_yticks(range(len(rows)), rows, fontsize=_TEXT)
    axis.set_xlabel(swept[1], fontsize=_TEXT)
    axis.set_ylabel(swept[0], fontsize=_TEXT)
    axis.set_title(primary, fontsize=11, loc="left", color=_INK)
    axis.tick_params(length=0)
    return figure


def _range(grid: Any) -> tuple[float, float]:
    """Smallest and largest value; a little apart when they are equal, so that colours are defined."""
    import numpy as np

    if not np.isfinite(grid).any():
        return 0.0, 1.0
    low, high = float(np.nanmin(grid)), float(np.nanmax(grid))
    return (low, high) if high > low else (low - 0.5, high)


def _bars(cells: Sequence[Mapping[str, Any]], primary: str) -> Any | None:
    """The primary metric of each cell with its interval (``_lo``, ``_hi``) where there is one, best on top."""
    shown = [cell for cell in cells if math.isfinite(cell["metrics"].get(primary, math.nan))]
    shown = sorted(shown, key=lambda cell: (cell["metrics"][primary], cell["name"]))
    if not shown:
        return None
    figure, axis = _empty(8.0, max(2.6, 1.2 + 0.42 * len(shown)))
    for i, cell in enumerate(shown):
        value = cell["metrics"][primary]
        low = cell["metrics"].get(f"{primary}_lo", value)
        high = cell["metrics"].get(f"{primary}_hi", value)
        axis.barh(i, value, color=cell["color"], height=0.66)
        axis.plot([low, high], [i, i], color=_INK, linewidth=1.4)
        axis.text(max(value, high), i, f"  {value:.3f}", va="center", fontsize=_TEXT, color=_INK)
    axis.set_yticks(range(len(shown)), [cell["name"] for cell in shown], fontsize=_TEXT)
    axis.set_xlim(
        0, 1.12 * max(max(c["metrics"][primary], c["metrics"].get(f"{primary}_hi", 0)) for c in shown)
    )
    axis.set_xlabel(primary, fontsize=_TEXT)
    axis.grid(visible=False, axis="y")
    return figure


def _empty(width: float, height: float, *, grid: bool = True) -> tuple[Any, Any]:
    """A figure of this size in inches, drawn by Agg, with one plain pair of axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    axis.tick_params(labelsize=_TEXT, colors=_INK)
    for side in ("top", "right", "left", "bottom"):
        axis.spines[side].set_visible(grid and side in {"left", "bottom"})
        axis.spines[side].set_color("#b8bec6")
    if grid:
        axis.grid(color=_GRID, linewidth=0.8)
        axis.set_axisbelow(True)
    return figure, axis
