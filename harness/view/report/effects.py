"""What each swept setting does, as dots with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.verdict import Interval
from harness.verdict.effects import Effect
from harness.view.report.forest import forest
from harness.view.verdict_words import limits, points

# So many lines of an axis are shown at once; the others are folded.
SHOWN = 10


class Line(NamedTuple):
    """A difference as it is written. ``within``: the other settings it holds for, empty for the mean over all of them."""

    label: str
    within: str
    picture: Markup
    text: str
    limits: str
    pairs: int
    is_clear: bool


class Group(NamedTuple):
    """The effects of one axis. ``remark`` says what they depend on, if they do."""

    axis: str
    remark: str
    lines: Sequence[Line]


def effect_groups(effects: Sequence[Effect]) -> list[Group]:
    """The effects by axis, all on one scale with zero marked.

    Where the pairs of an effect differ by more than chance, it is given for each combination, as its mean would say little.
    """
    found = [(effect.axis, *part) for effect in effects for part in _parts(effect)]
    pictures = forest([interval for _, _, _, interval, _ in found], zero=True)
    groups: dict[str, list[Line]] = {}
    for (axis, label, within, interval, pairs), picture in zip(found, pictures, strict=True):
        line = Line(
            label,
            within,
            picture,
            points(interval.value, sign=True),
            limits(interval, scale=100, digits=1),
            pairs,
            is_clear(interval),
        )
        groups.setdefault(axis, []).append(line)
    return [
        Group(plain(axis), _remark([e for e in effects if e.axis == axis]), lines)
        for axis, lines in groups.items()
    ]


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
    return [
        (
            label,
            ", ".join(f"{plain(axis)} {level}" for axis, level in pair.settings.items()),
            pair.difference,
            1,
        )
        for pair in effect.pairs
    ]


def _remark(effects: Sequence[Effect]) -> str:
    depends = [effect for effect in effects if effect.depends]
    if not depends:
        return ""
    others = dict.fromkeys(plain(axis) for effect in depends for axis in effect.depends_on)
    on = f"depends on the {' and the '.join(others)}" if others else "depends on the other settings"
    return on + (", and even changes sign" if any(effect.changes_sign for effect in depends) else "")
