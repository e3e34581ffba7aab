"""The deciding metric by any two of the swept settings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from harness.results.finished import FinishedSweep


class Field(NamedTuple):
    """``share``: where the value lies between the lowest and the highest of the grid, in [0, 1]; ``text``: the value."""

    text: str
    share: float
    name: str


class Grid(NamedTuple):
    """One pair of settings. ``others``: settings over which the best is taken."""

    down: str
    across: str
    across_values: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Field]]]
    others: Sequence[str]


def grids(sweep: FinishedSweep, metric: str) -> list[Grid]:
    """A grid for every pair of settings with two values or more, in the order of the command line; the best over all others."""
    swept = [axis for axis, values in sweep.axes.items() if len(values) > 1]
    return [_grid(sweep, metric, swept, down, across) for down, across in itertools.combinations(swept, 2)]


def _grid(sweep: FinishedSweep, metric: str, swept: Sequence[str], down: str, across: str) -> Grid:
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for cell in sweep.cells:
        at = (str(cell.params.get(down)), str(cell.params.get(across)))
        value = cell.metric(metric)
        if math.isfinite(value) and value > best.get(at, (-math.inf, ""))[0]:
            best[at] = (value, cell.name)
    values = [value for value, _ in best.values()]
    low, high = min(values, default=0.0), max(values, default=1.0)

    def field(row: str, column: str) -> Field:
        value, name = best.get((row, column), (math.nan, ""))
        if not name:
            return Field("–", 0.0, "not scored")
        return Field(f"{value:.3f}", (value - low) / (high - low) if high > low else 0.5, name)

    rows = [(row, [field(row, column) for column in sweep.axes[across]]) for row in sweep.axes[down]]
    others = [_plain(axis) for axis in swept if axis not in {down, across}]
    return Grid(_plain(down), _plain(across), list(sweep.axes[across]), rows, others)


def _plain(axis: str) -> str:
    return axis.rpartition(".")[2]
