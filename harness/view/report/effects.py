"""What the swept settings do: differences with intervals, by wording of the questions, and heat maps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.decision.findings import ByWording
from harness.results.finished import FinishedCell
from harness.verdict import Interval
from harness.verdict.effects import Effect
from harness.view.formats import figure
from harness.view.report.drawing import forest

# So many lines of an axis are shown at once; the others are folded.
SHOWN = 10
SHARED = {
    "low": "few words shared with the evidence",
    "middle": "some words shared",
    "high": "many words shared",
    "unknown": "overlap unknown",
}


class DifferenceLine(NamedTuple):
    """A difference; ``within``: the settings it holds for, empty for the mean over so many ``pairs``."""

    label: str
    within: str
    interval: Interval
    pairs: int
    picture: Markup


class EffectGroup(NamedTuple):
    """The effects of one axis. ``remark`` says what they depend on, if they do."""

    axis: str
    remark: str
    lines: Sequence[DifferenceLine]


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


def effect_groups(effects: Sequence[Effect]) -> list[EffectGroup]:
    """The effects by axis, all on one scale with zero marked.

    Where the pairs of an effect differ by more than chance, it is given for each combination, as its mean
    would say little.
    """
    found = [(effect.axis, *part) for effect in effects for part in _parts(effect)]
    pictures = forest([interval for _, _, _, interval, _ in found], zero=True)
    groups: dict[str, list[DifferenceLine]] = {}
    for (axis, label, within, interval, pairs), picture in zip(found, pictures, strict=True):
        line = DifferenceLine(label, within, interval, pairs, picture)
        groups.setdefault(axis, []).append(line)
    return [
        EffectGroup(plain(axis), _remark([e for e in effects if e.axis == axis]), lines)
        for axis, lines in groups.items()
    ]


def depends(found: Sequence[ByWording]) -> list[str]:
    """A sentence for each comparison whose sign differs between groups."""
    of = {"overlap": "how users word their questions"}
    came = "where the questions come from"
    return [
        f"Whether {one.first} or {one.second} is better depends on {of.get(one.groups, came)}."
        for one in found
        if one.comparison.changes_sign
    ]


def heat_maps(cells: Sequence[FinishedCell], axes: Mapping[str, Sequence[str]], metric: str) -> list[HeatMap]:
    """A map for every pair of settings with two values or more, in their order; the best over all others."""
    swept = {axis: values for axis, values in axes.items() if len(values) > 1}
    return [_heat_map(cells, swept, metric, *pair) for pair in itertools.combinations(swept, 2)]


def is_clear(interval: Interval) -> bool:
    """Whether the interval leaves out zero."""
    return interval.lo is not None and interval.hi is not None and (interval.lo > 0 or interval.hi < 0)


def plain(axis: str) -> str:
    """A setting's name without the group it stands in."""
    return axis.lstrip("+").rpartition(".")[2]


def _parts(effect: Effect) -> list[tuple[str, str, Interval, int]]:
    label = f"{effect.first} → {effect.second}"
    if not effect.depends:
        return [(label, "", effect.difference, len(effect.pairs))]
    parts = []
    for pair in effect.pairs:
        within = ", ".join(f"{plain(axis)} {level}" for axis, level in pair.settings.items())
        parts.append((label, within, pair.difference, 1))
    return parts


def _remark(effects: Sequence[Effect]) -> str:
    depends = [effect for effect in effects if effect.depends]
    if not depends:
        return ""
    others = dict.fromkeys(plain(axis) for effect in depends for axis in effect.depends_on)
    on = f"depends on the {' and the '.join(others)}" if others else "depends on the other settings"
    return on + (", and even changes sign" if any(effect.changes_sign for effect in depends) else "")


def _heat_map(
    cells: Sequence[FinishedCell], swept: Mapping[str, Sequence[str]], metric: str, down: str, across: str
) -> HeatMap:
    best: dict[tuple[str, str], tuple[float, str]] = {}
    for cell in cells:
        at, value = (str(cell.params.get(down)), str(cell.params.get(across))), cell.metric(metric)
        if math.isfinite(value) and value > best.get(at, (-math.inf, ""))[0]:
            best[at] = (value, cell.name)
    values = [value for value, _ in best.values()]
    low, high = min(values, default=0.0), max(values, default=1.0)

    def field(row: str, column: str) -> HeatField:
        value, name = best.get((row, column), (math.nan, "not scored"))
        share = (value - low) / (high - low) if high > low else 0.5
        return HeatField(figure("", value), share if math.isfinite(value) else 0.0, name)

    rows = [(row, [field(row, column) for column in swept[across]]) for row in swept[down]]
    others = [plain(axis) for axis in swept if axis not in {down, across}]
    return HeatMap(plain(down), plain(across), list(swept[across]), rows, others)
