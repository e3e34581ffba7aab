"""What the charts share: templates, scales, ticks, places of names, and intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from markupsafe import Markup

from harness.verdict import Interval

# Units of a chart's width; on a phone they are a little less than pixels, on a desk a little more.
WIDTH = 400.0
# An average letter of the charts' text takes so many units, and in bold.
LETTER, BOLD = 6.1, 7.4
# An interval in a row of a table.
_ROW_WIDTH, _ROW_HEIGHT = 150.0, 20.0


class Scale(NamedTuple):
    """Places values from ``low`` to ``high`` on a line of the drawing from ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """The place, rounded to a tenth of a unit."""
        low, high, at = self.low, self.high, value
        if self.is_log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        share = (at - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """About ``count`` round values (1, 2 or 5 times a power of ten apart) from ``low`` to ``high``."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def padded(values: Iterable[float], share: float = 0.06) -> tuple[float, float]:
    """Smallest and largest value with a little room on both sides; a unit apart where all are equal."""
    found = list(values)
    low, high = min(found), max(found)
    room = share * (high - low) or max(abs(low) * share, 0.01)
    return low - room, high + room


@cache
def environment() -> Any:
    """The report's templates; whatever they write is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("harness.view.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["ticks"] = ticks
    return made


def drawn(template: str, **parts: Any) -> Markup:
    """A chart; ``said`` among its parts says to those who can't see it what it shows."""
    return Markup(environment().get_template(template).render(parts).strip())  # noqa: S704 - escaped there


def apart(places: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """``places`` (ascending) moved ``step`` apart, inside ``low`` to ``high`` where there is room."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + step if moved else low))
    for i in range(len(moved) - 1, -1, -1):
        ceiling = high if i == len(moved) - 1 else moved[i + 1] - step
        moved[i] = min(moved[i], ceiling)
    return moved


def folded(name: str, most: int = 17) -> list[str]:
    """A cell's name in at most two lines, broken at its middle dots; never cut."""
    parts = name.split(" · ")
    if len(name) <= most or len(parts) < 2:
        return [name]
    cut = min(range(1, len(parts)), key=lambda i: max(len(" · ".join(parts[:i])), len(" · ".join(parts[i:]))))
    return [" · ".join(parts[:cut]), " · ".join(parts[cut:])]


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


def _values(interval: Interval) -> Iterable[float]:
    return (v for v in (interval.lo, interval.value, interval.hi) if v is not None and math.isfinite(v))


def _row(interval: Interval, scale: Scale, *, zero: bool) -> Markup:
    if not math.isfinite(interval.value):
        return Markup("")
    title = f"{interval.value:.3f}"
    if interval.lo is not None and interval.hi is not None:
        title += f" ({interval.lo:.3f} to {interval.hi:.3f})"
    size = {"width": _ROW_WIDTH, "height": _ROW_HEIGHT}
    return drawn("interval.svg.j2", interval=interval, scale=scale, zero=zero, title=title, **size)
