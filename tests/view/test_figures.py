from __future__ import annotations

import itertools
import struct
import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from harness.view.figures import write_figures

AXES = {"model": ["minilm", "bge"], "chunk": ["128", "256"]}


def cell(model: str, chunk: str, score: float) -> dict[str, Any]:
    metrics = {"recall_at_1": score - 0.2, "recall_at_5": score, "recall_at_500_tokens": score - 0.1}
    metrics |= {
        "recall_at_2000_tokens": score,
        "recall_at_2000_tokens_lo": score - 0.05,
        "recall_at_2000_tokens_hi": score + 0.05,
    }
    return {
        "name": f"{model} · {chunk}",
        "color": "#3772bb",
        "params": {"model": model, "chunk": chunk},
        "metrics": metrics,
    }


CELLS = [cell("minilm", "128", 0.8), cell("minilm", "256", 0.7), cell("bge", "128", 0.75)]


def drawn(folder: Path, cells: list[dict[str, Any]], axes: dict[str, list[str]]) -> list[str]:
    paths = write_figures(cells, axes, "recall_at_2000_tokens", folder)
    for path in paths:
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG")
        # Width in a PNG stands at byte 16: a figure must be readable and may not explode.
        assert 600 <= struct.unpack(">I", content[16:20])[0] <= 4000
    return [path.name for path in paths]


def test_two_axes_give_curves_and_a_heat_map(tmp_path: Path) -> None:
    """A missing (failed) combination leaves a gap in the heat map and no error."""
    assert drawn(tmp_path, CELLS, AXES) == ["recall_over_k.png", "recall_over_tokens.png", "heatmap.png"]


def test_one_axis_gives_bars(tmp_path: Path) -> None:
    """A heat map of one row would say nothing more than bars with their intervals."""
    axes = {"model": ["minilm"], "chunk": ["128", "256"]}
    assert drawn(tmp_path, CELLS[:2], axes) == ["recall_over_k.png", "recall_over_tokens.png", "bars.png"]


def test_nothing_swept_gives_curves_only(tmp_path: Path) -> None:
    """One cell has nothing to be compared with."""
    assert drawn(tmp_path, CELLS[:1], {}) == ["recall_over_k.png", "recall_over_tokens.png"]


def test_figures_without_sense_are_left_out(tmp_path: Path) -> None:
    """One k is no curve; undefined values are not drawn; no cell gives no figure and makes no folder."""
    bare = [c | {"metrics": {"recall_at_5": float("nan"), "recall_at_2000_tokens": 0.5}} for c in CELLS]
    assert drawn(tmp_path, bare, AXES) == ["heatmap.png"]
    assert drawn(tmp_path / "none", [], AXES) == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("score", [0.0, 1.0, float("nan")])
def test_equal_scores_are_drawn(tmp_path: Path, score: float) -> None:
    """All cells alike, or none defined, is no reason to fail."""
    cells = [cell(model, chunk, score) for model in AXES["model"] for chunk in AXES["chunk"]]
    assert "heatmap.png" in drawn(tmp_path, cells, AXES)
    drawn(tmp_path, cells, {"chunk": ["128", "256"]})


def test_the_same_values_give_the_same_bytes(tmp_path: Path) -> None:
    """Reports can be redone and compared."""
    for name in ("a", "b"):
        drawn(tmp_path / name, CELLS, AXES)
    assert (tmp_path / "a" / "heatmap.png").read_bytes() == (tmp_path / "b" / "heatmap.png").read_bytes()


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were written, in their order."""
    written: list[Figure] = []
    real = Figure.savefig

    def savefig(self: Figure, *words: Any, **more: Any) -> None:
        real(self, *words, **more)
        written.append(self)

    monkeypatch.setattr(Figure, "savefig", savefig)
    return written


def names(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_names_at_the_ends_of_lines_do_not_overlap(tmp_path: Path, figures: list[Figure]) -> None:
    """Eight lines that end in the same place still have eight readable names."""
    drawn(tmp_path, [cell(f"model{i}", "256", 0.8 + i / 1000) for i in range(8)], {})
    for figure in figures:
        # An annotation's own extent would hold its leader line too.
        boxes = sorted(
            (Text.get_window_extent(text) for text in figure.axes[0].texts), key=lambda box: box.y0
        )
        assert len(boxes) == 8
        assert all(low.y1 <= high.y0 + 1 for low, high in itertools.pairwise(boxes))


def test_of_many_lines_the_best_and_the_worst_are_named(tmp_path: Path, figures: list[Figure]) -> None:
    """Six best by the primary metric and the worst, in whatever order the cells come; grey ones are counted."""
    cells = [cell(f"m{i}", "256", 0.5 + i / 100) for i in (3, 8, 1, 0, 7, 2, 6, 4, 5)]
    drawn(tmp_path, cells, {})
    for figure in figures:
        axis = figure.axes[0]
        assert sorted(names(figure)) == [f"m{i} · 256" for i in (0, 3, 4, 5, 6, 7, 8)]
        assert axis.get_title("left") == "best 6 and worst in colour, 2 more cells in grey"
        assert sorted(line.get_linewidth() for line in axis.lines) == [0.7] * 2 + [2] * 7
    drawn(tmp_path, cells[:8], {})
    assert len(names(figures[-1])) == 8
    assert figures[-1].axes[0].get_title("left") == ""


def test_lines_that_coincide_share_a_name(tmp_path: Path, figures: list[Figure]) -> None:
    """Two names and a count; ten cells on three lines are not too many to be told apart."""
    cells = [cell(f"a{i}", "256", 0.9) for i in range(5)]
    cells += [cell(f"b{i}", "256", 0.8) for i in range(2)] + [cell("c", "256", 0.7)]
    drawn(tmp_path, cells, {})
    for figure in figures:
        assert sorted(names(figure)) == ["a0 · 256, a1 · 256 and 3 more", "b0 · 256, b1 · 256", "c · 256"]


def test_a_heat_map_says_what_it_leaves_out(tmp_path: Path, figures: list[Figure]) -> None:
    """With more than two swept settings a field is the best over the others, which stand in the title."""
    axes = AXES | {"chunker.overlap": ["0", "32"], "rerank": ["none", "cross"], "corpus": ["one"]}
    drawn(tmp_path, CELLS, axes)
    assert figures[-1].axes[0].get_title("left") == "recall_at_2000_tokens (best over overlap, rerank)"
    drawn(tmp_path, CELLS, AXES)
    assert figures[-1].axes[0].get_title("left") == "recall_at_2000_tokens"


def test_pyplot_is_left_alone(tmp_path: Path) -> None:
    """A user's own figures and backend are not touched."""
    sys.modules.pop("matplotlib.pyplot", None)
    drawn(tmp_path, CELLS, AXES)
    assert "matplotlib.pyplot" not in sys.modules
