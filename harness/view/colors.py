"""One colour per cell, the same everywhere: hue by the first axis, lightness by the others.

Colours are chosen in OKLCH (Ottosson 2020), where equal steps look equally far apart. Hues and their middle
lightness were searched so that any two cells of up to four by four stay apart, also for readers who can't
tell red from green.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

# Hue in degrees and the middle of its lightness (0 black to 1 white).
_HUES = ((255, 0.55), (60, 0.64), (340, 0.70), (170, 0.62), (10, 0.56), (280, 0.62), (90, 0.56), (150, 0.72))
_SPREAD = 0.36
_CHROMA = 0.13
_NEUTRAL = "#5f6b7a"


def colors_of(cells: Sequence[Mapping[str, str]], axes: Sequence[str]) -> list[str]:
    """The colour ``#rrggbb`` of each cell, in their order; a grey when nothing is swept.

    ``cells``: the settings of all cells of the sweep; ``axes``: the swept ones, in the order of the command
    line. The first axis with more than one value gives the hue, all others together the lightness, pale to
    dark.
    """
    values = {axis: list(dict.fromkeys(cell[axis] for cell in cells)) for axis in axes}
    swept = {axis: found for axis, found in values.items() if len(found) > 1}
    return [_color(swept, cell) for cell in cells]


def cell_css(colors: Sequence[str | None]) -> Markup:
    """CSS for light and dark: ``.c<i>`` of each cell sets ``--c`` (its colour) and ``--on`` (text on it)."""
    light = [color or _NEUTRAL for color in colors]
    dark = [lighter(color) for color in light]
    return Markup("{}\n@media (prefers-color-scheme: dark) {{\n{}\n}}").format(_rules(light), _rules(dark))


def lighter(color: str) -> str:
    """The colour for a dark page: a third of the way to white, so that dark blues can be seen."""
    return "#" + "".join(f"{channel + (255 - channel) // 3:02x}" for channel in bytes.fromhex(color[1:]))


def ink_on(color: str) -> str:
    """Black or white, whichever has more contrast with ``color`` (WCAG's relative luminance)."""
    red, green, blue = (_linear(channel / 255) for channel in bytes.fromhex(color[1:]))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"


def _color(swept: Mapping[str, Sequence[str]], cell: Mapping[str, str]) -> str:
    if not swept:
        return _NEUTRAL
    first, *others = swept
    hue, middle = _hue(swept[first].index(cell[first]))
    step, steps = 0, 1
    for axis in others:
        step = step * len(swept[axis]) + swept[axis].index(cell[axis])
        steps *= len(swept[axis])
    share = 0.5 - step / (steps - 1) if steps > 1 else 0.0
    return _nearest(middle + share * _SPREAD, _CHROMA, math.radians(hue))


def _hue(place: int) -> tuple[float, float]:
    """Hue and middle lightness; after the eighth value the hues come again, darker, then again, lighter."""
    turn, i = divmod(place, len(_HUES))
    hue, middle = _HUES[i]
    return hue, middle + (0.0, -0.22, 0.20)[turn % 3]


def _nearest(lightness: float, chroma: float, hue: float) -> str:
    """The nearest colour that a screen can show: chroma is lowered until all three channels fit."""
    lightness = min(0.90, max(0.25, lightness))
    while True:
        channels = _linear_rgb(lightness, chroma * math.cos(hue), chroma * math.sin(hue))
        if chroma <= 0.0 or all(-1e-4 <= c <= 1.0001 for c in channels):
            return _hex(channels)
        chroma -= 0.005


def _rules(colors: Sequence[str]) -> str:
    return "\n".join(f".c{i}{{--c:{color};--on:{ink_on(color)}}}" for i, color in enumerate(colors))


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def _linear_rgb(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _hex(channels: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * _gamma(channel)):02x}" for channel in channels)


def _gamma(channel: float) -> float:
    channel = min(1.0, max(0.0, channel))
    return 12.92 * channel if channel <= 0.0031308 else float(1.055 * channel ** (1 / 2.4) - 0.055)
