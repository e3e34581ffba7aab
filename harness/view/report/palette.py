"""Each cell's colour as CSS: as in MLflow on white, lighter on black, with ink that can be read on it."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

# Lightness (OKLab, Ottosson 2020) from these limits is spread over those on a dark page; the order stays.
_ON_WHITE, _ON_BLACK = (0.25, 0.90), (0.54, 0.92)
_NEUTRAL = "#5f6b7a"


def cell_css(colors: Sequence[str | None]) -> Markup:
    """A rule ``.c<i>`` for each cell, setting ``--c`` (its colour) and ``--on`` (text on it), for light and dark."""
    light = [color or _NEUTRAL for color in colors]
    dark = [lighter(color) for color in light]
    return Markup("{}\n@media (prefers-color-scheme: dark) {{\n{}\n}}").format(_rules(light), _rules(dark))


def lighter(color: str) -> str:
    """The colour for a dark page: same hue, lightness moved up, so that dark blues can be seen."""
    lightness, a, b = _oklab(_channels(color))
    share = (lightness - _ON_WHITE[0]) / (_ON_WHITE[1] - _ON_WHITE[0])
    moved = _ON_BLACK[0] + min(1.0, max(0.0, share)) * (_ON_BLACK[1] - _ON_BLACK[0])
    return _hex(moved, a, b)


def ink_on(color: str) -> str:
    """Black or white, whichever has more contrast with ``color`` (WCAG's relative luminance)."""
    red, green, blue = _channels(color)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#101418"


def _rules(colors: Sequence[str]) -> str:
    return "\n".join(f".c{i}{{--c:{color};--on:{ink_on(color)}}}" for i, color in enumerate(colors))


def _channels(color: str) -> tuple[float, float, float]:
    """Linear red, green and blue in [0, 1]."""
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)


def _oklab(channels: tuple[float, float, float]) -> tuple[float, float, float]:
    red, green, blue = channels
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


def _hex(lightness: float, a: float, b: float) -> str:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(min(1.0, max(0.0, channel)))):02x}" for channel in linear)


def _gamma(channel: float) -> float:
    return 12.92 * channel if channel <= 0.0031308 else float(1.055 * channel ** (1 / 2.4) - 0.055)
