"""What all figures share: size of text, colours and an empty pair of axes."""

from __future__ import annotations

from typing import Any

TEXT = 10
INK = "#2b2f36"
GREY = "#b8bec6"
_GRID = "#e3e6ea"


def empty(width: float, height: float, *, grid: bool = True) -> tuple[Any, Any]:
    """A figure of this size in inches, drawn by Agg, with one plain pair of axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    axis.tick_params(labelsize=TEXT, colors=INK)
    for side in ("top", "right", "left", "bottom"):
        axis.spines[side].set_visible(grid and side in {"left", "bottom"})
        axis.spines[side].set_color(GREY)
    if grid:
        axis.grid(color=_GRID, linewidth=0.8)
        axis.set_axisbelow(True)
    return figure, axis
