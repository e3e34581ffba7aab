from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from harness.view.colors import cell_css, colors_of, ink_on, lighter

# What readers with full, red-blind and green-blind sight see, on linear RGB (Machado, Oliveira & Fernandes 2009, severity 1).
SIGHTS = {
    "full": np.eye(3),
    "red-blind": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "green-blind": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
# Linear RGB to OKLab (Ottosson 2020), as an independent way back from the colours.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def grid(models: int, chunks: int) -> list[dict[str, str]]:
    return [{"model": f"m{i}", "chunk": str(j)} for i in range(models) for j in range(chunks)]


def lab(color: str, sight: np.ndarray) -> np.ndarray:
    value = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return TO_LAB @ np.cbrt(TO_CONES @ np.clip(sight @ linear, 0, 1))


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize(
    ("models", "chunks"), [(2, 2), (3, 3), (3, 4), (4, 3), (2, 6), (4, 4), (12, 1), (1, 12), (6, 2)]
)
def test_cells_are_told_apart(models: int, chunks: int, sight: str) -> None:
    """Any two cells differ by 0.05 in OKLab (0.02 is just noticeable), also for the colour-blind."""
    colors = [lab(color, SIGHTS[sight]) for color in colors_of(grid(models, chunks), ["model", "chunk"])]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(colors, 2)) >= 0.05


def test_a_model_has_one_hue_and_chunks_get_darker() -> None:
    """The eye groups by the first axis; the second one goes from pale to dark."""
    colors = [lab(color, SIGHTS["full"]) for color in colors_of(grid(3, 3), ["model", "chunk"])]
    for i in range(0, 9, 3):
        lightness = [color[0] for color in colors[i : i + 3]]
        assert lightness == sorted(lightness, reverse=True)
        hues = np.degrees([np.arctan2(color[2], color[1]) for color in colors[i : i + 3]])
        assert np.ptp(hues) < 15


def test_a_sweep_of_one_is_grey_and_every_colour_is_hexadecimal() -> None:
    """MLflow takes #rrggbb only; one cell needs no colour."""
    assert colors_of([{"model": "m"}], []) == colors_of([{"model": "m"}], ["model"])
    colors = colors_of(grid(20, 5), ["model", "chunk"])
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in colors)


def test_colours_do_not_depend_on_the_order_of_later_axes_values() -> None:
    """A third axis shares the lightness with the second."""
    cells = [cell | {"k": k} for cell in grid(2, 2) for k in ("3", "5")]
    assert len(set(colors_of(cells, ["model", "chunk", "k"]))) == 8


def luminance(color: str) -> float:
    """Relative luminance by WCAG 2's formula."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    a, b = sorted((luminance(one), luminance(other)))
    return (b + 0.05) / (a + 0.05)


def test_colours_can_be_read_on_white_and_on_black():
    """Text on a colour has at least the better of black and white; on a dark page every colour is seen, the order of lightness kept."""
    blues = ["#6daaf8", "#3772bb", "#023e7d"]
    dark = [lighter(color) for color in blues]

    assert [luminance(color) for color in dark] == sorted((luminance(c) for c in dark), reverse=True)
    assert all(contrast(color, "#111418") > 3 for color in dark)
    for color in [*blues, *dark, "#ffffff", "#000000", "#808080"]:
        assert contrast(ink_on(color), color) > 4.4
    assert cell_css([None]).count(".c0{") == 2
