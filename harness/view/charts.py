"""A sweep's charts as SVG files, and heat maps of two swept settings, which the report shows as tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from harness.files.atomic import write_text
from harness.view.colors import ink_on
from harness.view.formats import counted, figure, short
from harness.view.report.drawing import BOLD, Scale, bar, picture, rule, standalone, ticks, written
from harness.view.report.plots import left_grey, recall_lines

# A heat map from its lowest to its highest value; cells without a score.
_PALE, _DEEP, _EMPTY = (222, 232, 247), (36, 86, 184), "#f4f4f1"
_TILE_WIDTH, _TILE_HEIGHT, _GAP, _BAR, _LINE = 62.0, 34.0, 3.0, 15.0, 24.0


class HeatField(NamedTuple):
    """One value of a heat map.

    ``share``: where it lies between the lowest and the highest of the map, in [0, 1]; ``name``: the cell
    that has it.
    """

    text: str
    share: float
    name: str


class HeatMap(NamedTuple):
    """A metric by two settings. ``others``: settings over which the best is taken."""

    down: str
    across: str
    across_values: Sequence[str]
    rows: Sequence[tuple[str, Sequence[HeatField]]]
    others: Sequence[str]


class CellScore(NamedTuple):
    """What a heat map needs to know of a cell."""

    name: str
    params: Mapping[str, str]
    value: float


def heat_maps(cells: Sequence[CellScore], axes: Mapping[str, Sequence[str]]) -> list[HeatMap]:
    """A map for every pair of settings with two values or more, in their order; the best over all others."""
    swept = {axis: values for axis, values in axes.items() if len(values) > 1}
    return [_heat_map(cells, swept, down, across) for down, across in itertools.combinations(swept, 2)]


def write_charts(
    cells: Sequence[Mapping[str, Any]], axes: Mapping[str, Sequence[str]], primary: str, folder: Path
) -> list[Path]:
    """Draws what makes sense for these cells into ``folder`` and gives the paths.

    ``cells``: finished cells, best first, each with ``name``, ``color`` (``#rrggbb``), ``params`` and
    ``metrics``. ``recall_over_k.svg`` needs recall at two k, ``recall_over_tokens.svg`` at two budgets. Two
    swept settings or more give ``heatmap.svg`` of ``primary`` over the first two (the best over the
    others), one gives ``bars.svg``, none neither.
    """
    metrics = {str(cell["name"]): cell["metrics"] for cell in cells}
    drawn = {
        "recall_over_k.svg": _recall(metrics, r"recall_at_(\d+)", "k (rows read)"),
        "recall_over_tokens.svg": _recall(metrics, r"recall_at_(\d+)_tokens", "tokens of context read"),
    }
    scores = [CellScore(str(c["name"]), c["params"], c["metrics"].get(primary, math.nan)) for c in cells]
    maps = heat_maps(scores, axes)
    if maps and cells:
        drawn["heatmap.svg"] = _heat_chart(maps[0], primary)
    elif any(len(values) > 1 for values in axes.values()):
        drawn["bars.svg"] = _bar_chart(cells, primary)
    colors = [str(cell["color"]) for cell in cells]
    paths = []
    for name, drawing in drawn.items():
        if drawing is not None:
            folder.mkdir(parents=True, exist_ok=True)
            paths.append(folder / name)
            write_text(folder / name, standalone(drawing, colors))
    return paths


def _recall(metrics: Mapping[str, Mapping[str, float]], pattern: str, label: str) -> Markup | None:
    """The lines, with a word on those without a name."""
    grey = left_grey(metrics, pattern)
    return recall_lines(metrics, pattern, label + (f"; {counted(grey, 'cell')} in grey" if grey else ""))


def _heat_map(
    cells: Sequence[CellScore], swept: Mapping[str, Sequence[str]], down: str, across: str
) -> HeatMap:
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for cell in cells:
        at = (str(cell.params.get(down)), str(cell.params.get(across)))
        if math.isfinite(cell.value) and cell.value > best.get(at, (-math.inf, ""))[0]:
            best[at] = (cell.value, cell.name)
    values = [value for value, _ in best.values()]
    low, high = min(values, default=0.0), max(values, default=1.0)

    def field(row: str, column: str) -> HeatField:
        value, name = best.get((row, column), (math.nan, "not scored"))
        share = (value - low) / (high - low) if high > low else 0.5
        return HeatField(figure("", value), share if math.isfinite(value) else 0.0, name)

    rows = [(row, [field(row, column) for column in swept[across]]) for row in swept[down]]
    others = [_plain(axis) for axis in swept if axis not in {down, across}]
    return HeatMap(_plain(down), _plain(across), list(swept[across]), rows, others)


def _plain(axis: str) -> str:
    return axis.rpartition(".")[2]


def _heat_chart(found: HeatMap, primary: str) -> Markup:
    """The map as tiles, with the settings' values beside and above them."""
    left = _wide((found.down, *(value for value, _ in found.rows))) + 10
    step_x, step_y = max(_TILE_WIDTH, _wide(found.across_values) + 8), _TILE_HEIGHT
    title = short(primary) + (f", the best over {', '.join(found.others)}" if found.others else "")
    top = 2 * _LINE
    parts = [written(0, 9, title, css="head"), written(left, _LINE + 7, found.across)]
    parts.append(written(0, top + 7, found.down))
    for j, value in enumerate(found.across_values):
        parts.append(written(left + (j + 0.5) * step_x, top + 7, value, anchor="middle", css="head"))
    for i, (row, fields) in enumerate(found.rows):
        y = top + 16 + i * step_y
        parts.append(written(0, y + step_y / 2 + 3, row, css="head"))
        for j, field in enumerate(fields):
            parts.append(_tile(field, left + j * step_x, y, step_x - _GAP, step_y - _GAP))
    width = max(left + step_x * len(found.across_values), _wide([title]))
    label = f"{title} by {found.down} and {found.across}."
    return picture(top + 16 + step_y * len(found.rows), label, parts, width=width)


def _tile(field: HeatField, x: float, y: float, width: float, height: float) -> Markup:
    known = field.name != "not scored"
    mixed = (round(a + field.share * (b - a)) for a, b in zip(_PALE, _DEEP, strict=True))
    fill = "#" + "".join(f"{channel:02x}" for channel in mixed) if known else _EMPTY
    text = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="middle" style="fill:{}{}">{}</text>').format(
        x + width / 2, y + height / 2 + 4, ink_on(fill), ";font-weight:700" * (field.share == 1), field.text
    )
    return Markup("<g><title>{}</title>{}{}</g>").format(
        field.name, bar(x, y, width, height, "tile", fill), text
    )


def _bar_chart(cells: Sequence[Mapping[str, Any]], primary: str) -> Markup | None:
    """The metric of each cell with its interval (``_lo``, ``_hi``) where there is one, best on top."""
    shown = [c for c in cells if math.isfinite(c["metrics"].get(primary, math.nan))]
    if not shown:
        return None
    shown.sort(key=lambda cell: (-cell["metrics"][primary], cell["name"]))
    ends = {c["name"]: c["metrics"].get(f"{primary}_hi", c["metrics"][primary]) for c in shown}
    left, foot = _wide([str(c["name"]) for c in shown]) + 10, _LINE * len(shown) + 4
    across = Scale(0.0, max(*ends.values(), 1e-9), left, left + 300)
    parts = [rule(across(v), 0, across(v), foot) for v in ticks(0.0, across.high)]
    for i, cell in enumerate(shown):
        value, middle = cell["metrics"][primary], (i + 0.5) * _LINE
        low, high = cell["metrics"].get(f"{primary}_lo", value), ends[cell["name"]]
        parts += [
            written(left - 8, middle + 4, str(cell["name"]), anchor="end", css="head"),
            bar(left, middle - _BAR / 2, across(value) - left, _BAR, "tile", str(cell["color"])),
            *(rule(across(low), middle, across(high), middle, css) for css in ("halo", "whisker")),
            written(across(max(value, high)) + 6, middle + 4, f"{value:.3f}"),
        ]
    parts.append(rule(left, foot, left + 300, foot, "axis"))
    parts += [written(across(v), foot + 16, f"{v:g}", anchor="middle") for v in ticks(0.0, across.high)]
    parts.append(written(left + 150, foot + 33, short(primary), anchor="middle"))
    return picture(foot + 40, f"{short(primary)} of {len(shown)} configurations.", parts, width=left + 350)


def _wide(texts: Sequence[str]) -> float:
    """Units that the longest of these texts takes in bold."""
    return BOLD * max(map(len, texts))
