"""Dots with intervals on one common scale, a small picture per row of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from harness.verdict import Interval
from harness.view.report.drawing import Scale, dot, padded, picture, rule

_WIDTH, _HEIGHT = 150.0, 20.0


def forest(intervals: Sequence[Interval], *, zero: bool = False) -> list[Markup]:
    """One picture per interval, all on the scale that holds them all; with ``zero`` also zero, as a line.

    Without limits it is the dot alone.
    """
    values = [v for interval in intervals for v in _values(interval)] + ([0.0] if zero else [])
    if not values:
        return [Markup("") for _ in intervals]
    low, high = padded(values)
    scale = Scale(low, high, 4, _WIDTH - 4)
    return [_row(interval, scale, zero=zero) for interval in intervals]


def _values(interval: Interval) -> Iterable[float]:
    return (v for v in (interval.lo, interval.value, interval.hi) if v is not None and math.isfinite(v))


def _row(interval: Interval, scale: Scale, *, zero: bool) -> Markup:
    if not math.isfinite(interval.value):
        return Markup("")
    middle = _HEIGHT / 2
    parts = [rule(scale(0.0), 0, scale(0.0), _HEIGHT, "zero")] if zero else []
    title = f"{interval.value:.3f}"
    if interval.lo is not None and interval.hi is not None:
        parts.append(rule(scale(interval.lo), middle, scale(interval.hi), middle, "whisker"))
        title += f" ({interval.lo:.3f} to {interval.hi:.3f})"
    parts.append(dot(scale(interval.value), middle, 4.5, title))
    return picture(_HEIGHT, title.replace("-", "−"), parts, width=_WIDTH)
