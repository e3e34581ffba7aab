"""The three figures of a sweep as PNG files: recall over k, recall over tokens, the primary metric by the first two axes.

Figures are made from plain values and never touch pyplot, whose state is shared by the whole process.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.view.canvas import INK, TEXT, empty
from harness.view.curves import curves

_DPI = 150


def write_figures(
    cells: Sequence[Mapping[str, Any]], axes: Mapping[str, Sequence[str]], primary: str, folder: Path
) -> list[Path]:
    """Draws what makes sense for these cells into ``folder`` and gives the paths.

    ``cells``: finished cells, each with ``name``, ``color`` (``#rrggbb``), ``params`` and ``metrics`` (flat names).
    ``axes``: the swept settings with their values. ``recall_over_k.png`` needs recall at two k, ``recall_over_tokens.png``
    at two budgets; of many lines only the best and the worst are named. Two swept settings or more give ``heatmap.png`` of ``primary`` over the first two (the best of the
    others), one gives ``bars.png``, none gives neither.
    """
    if not cells:
        return []
    drawn = [
        (curves(cells, primary, r"recall_at_(\d+)", "k (chunks read)"), "recall_over_k.png"),
        (
            curves(cells, primary, r"recall_at_(\d+)_tokens", "tokens of context read"),
            "recall_over_tokens.png",
        ),
    ]
    swept = [name for name, values in axes.items() if len(values) > 1]
    if len(swept) >= 2:
        drawn.append((_heatmap(cells, axes, swept, primary), "heatmap.png"))
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


def _heatmap(
    cells: Sequence[Mapping[str, Any]], axes: Mapping[str, Sequence[str]], swept: Sequence[str], primary: str
) -> Any:
    """The primary metric by the first two settings, the best over the others; an empty field where no cell finished."""
    import numpy as np

    swept, others = swept[:2], [name.rpartition(".")[2] for name in swept[2:]]
    rows, columns = (list(axes[name]) for name in swept)
    grid = np.full((len(rows), len(columns)), np.nan)
    for cell in cells:
        place = [str(cell["params"].get(name)) for name in swept]
        value = cell["metrics"].get(primary, math.nan)
        if place[0] in rows and place[1] in columns and math.isfinite(value):
            i, j = rows.index(place[0]), columns.index(place[1])
            grid[i, j] = np.fmax(grid[i, j], value)
    figure, axis = empty(max(5.0, 2.2 + 1.1 * len(columns)), max(3.0, 1.6 + 0.62 * len(rows)), grid=False)
    low, high = _range(grid)
    axis.imshow(grid, cmap="Blues", vmin=low - 0.15 * (high - low), vmax=high, aspect="auto")
    for (i, j), value in np.ndenumerate(grid):
        dark = math.isfinite(value) and value > low + 0.6 * (high - low)
        text = f"{value:.3f}" if math.isfinite(value) else "–"
        weight = "bold" if value == high else "normal"
        axis.text(
            j, i, text, ha="center", va="center", fontsize=11, weight=weight, color="white" if dark else INK
        )
    axis.set_xticks(range(len(columns)), columns, fontsize=TEXT)
    axis.set_yticks(range(len(rows)), rows, fontsize=TEXT)
    axis.set_xlabel(swept[1], fontsize=TEXT)
    axis.set_ylabel(swept[0], fontsize=TEXT)
    best = f" (best over {', '.join(others)})" if others else ""
    axis.set_title(primary + best, fontsize=11, loc="left", color=INK)
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
    figure, axis = empty(8.0, max(2.6, 1.2 + 0.42 * len(shown)))
    for i, cell in enumerate(shown):
        value = cell["metrics"][primary]
        low = cell["metrics"].get(f"{primary}_lo", value)
        high = cell["metrics"].get(f"{primary}_hi", value)
        axis.barh(i, value, color=cell["color"], height=0.66)
        axis.plot([low, high], [i, i], color=INK, linewidth=1.4)
        axis.text(max(value, high), i, f"  {value:.3f}", va="center", fontsize=TEXT, color=INK)
    axis.set_yticks(range(len(shown)), [cell["name"] for cell in shown], fontsize=TEXT)
    axis.set_xlim(
        0, 1.12 * max(max(c["metrics"][primary], c["metrics"].get(f"{primary}_hi", 0)) for c in shown)
    )
    axis.set_xlabel(primary, fontsize=TEXT)
    axis.grid(visible=False, axis="y")
    return figure
