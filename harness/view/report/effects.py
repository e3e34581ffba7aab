"""Differences with intervals: of each swept setting, and by the wording of the questions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.decision.findings import ByWording
from harness.verdict import Interval
from harness.verdict.effects import Effect
from harness.view.formats import point_limits, points
from harness.view.report.drawing import Scale, dot, padded, picture, rule

# So many lines of an axis are shown at once; the others are folded.
SHOWN = 10
# An interval in a row of a table.
_ROW_WIDTH, _ROW_HEIGHT = 150.0, 20.0
_SHARED = {
    "low": "few words shared with the evidence",
    "middle": "some words shared",
    "high": "many words shared",
    "unknown": "overlap unknown",
}


class DifferenceLine(NamedTuple):
    """A difference as it is written.

    ``within``: the settings it holds for, empty for the mean over all. ``size``: of its pairs or questions.
    """

    label: str
    text: str
    limits: str
    size: int
    is_clear: bool
    within: str = ""
    picture: Markup = Markup("")


class EffectGroup(NamedTuple):
    """The effects of one axis. ``remark`` says what they depend on, if they do."""

    axis: str
    remark: str
    lines: Sequence[DifferenceLine]


class WordingComparison(NamedTuple):
    """Two cells compared among questions worded alike. ``depends``: the sign differs by more than chance."""

    first: str
    second: str
    depends: bool
    lines: Sequence[DifferenceLine]


def effect_groups(effects: Sequence[Effect]) -> list[EffectGroup]:
    """The effects by axis, all on one scale with zero marked.

    Where the pairs of an effect differ by more than chance, it is given for each combination, as its mean
    would say little.
    """
    found = [(effect.axis, *part) for effect in effects for part in _parts(effect)]
    pictures = forest([interval for _, _, _, interval, _ in found], zero=True)
    groups: dict[str, list[DifferenceLine]] = {}
    for (axis, label, within, interval, pairs), drawing in zip(found, pictures, strict=True):
        line = _line(label, interval, pairs)._replace(within=within, picture=drawing)
        groups.setdefault(axis, []).append(line)
    return [
        EffectGroup(plain(axis), _remark([e for e in effects if e.axis == axis]), lines)
        for axis, lines in groups.items()
    ]


def wordings(found: Sequence[ByWording]) -> list[WordingComparison]:
    """Each comparison with its groups, few shared words first."""
    order = list(_SHARED)
    comparisons = []
    for one in found:
        groups = sorted(one.comparison.groups, key=lambda group: (*order, group.group).index(group.group))
        lines = [_line(_SHARED.get(g.group, g.group), g.difference, g.questions) for g in groups]
        comparisons.append(WordingComparison(one.first, one.second, one.comparison.changes_sign, lines))
    return comparisons


def depends(found: Sequence[ByWording]) -> list[str]:
    """A sentence for each comparison whose sign differs between groups."""
    of = {"overlap": "how users word their questions"}
    came = "where the questions come from"
    return [
        f"Whether {one.first} or {one.second} is better depends on {of.get(one.groups, came)}."
        for one in found
        if one.comparison.changes_sign
    ]


def forest(intervals: Sequence[Interval], *, zero: bool = False) -> list[Markup]:
    """One picture per interval, all on the scale that holds them all; with ``zero`` also zero, as a line.

    Without limits it is the dot alone.
    """
    values = [v for interval in intervals for v in _values(interval)] + ([0.0] if zero else [])
    if not values:
        return [Markup("") for _ in intervals]
    low, high = padded(values)
    scale = Scale(low, high, 4, _ROW_WIDTH - 4)
    return [_row(interval, scale, zero=zero) for interval in intervals]


def is_clear(interval: Interval) -> bool:
    """Whether the interval leaves out zero."""
    return interval.lo is not None and interval.hi is not None and (interval.lo > 0 or interval.hi < 0)


def plain(axis: str) -> str:
    """A setting's name without the group it stands in."""
    return axis.lstrip("+").rpartition(".")[2]


def _line(label: str, interval: Interval, size: int) -> DifferenceLine:
    text, limits = points(interval.value, sign=True), point_limits(interval)
    return DifferenceLine(label, text, limits, size, is_clear(interval))


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


def _values(interval: Interval) -> Iterable[float]:
    return (v for v in (interval.lo, interval.value, interval.hi) if v is not None and math.isfinite(v))


def _row(interval: Interval, scale: Scale, *, zero: bool) -> Markup:
    if not math.isfinite(interval.value):
        return Markup("")
    middle = _ROW_HEIGHT / 2
    parts = [rule(scale(0.0), 0, scale(0.0), _ROW_HEIGHT, "zero")] if zero else []
    title = f"{interval.value:.3f}"
    if interval.lo is not None and interval.hi is not None:
        parts.append(rule(scale(interval.lo), middle, scale(interval.hi), middle, "whisker"))
        title += f" ({interval.lo:.3f} to {interval.hi:.3f})"
    parts.append(dot(scale(interval.value), middle, 4.5, title))
    return picture(_ROW_HEIGHT, title.replace("-", "−"), parts, width=_ROW_WIDTH)
