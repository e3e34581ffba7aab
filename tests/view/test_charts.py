"""A sweep's charts as files, and its heat maps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from harness.view.charts import CellScore, heat_maps, write_charts

AXES = {"model": ["minilm", "bge"], "chunk": ["128", "256"]}
SVG = "{http://www.w3.org/2000/svg}"


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


CELLS = [cell("minilm", "128", 0.8), cell("bge", "128", 0.75), cell("minilm", "256", 0.7)]


def drawn(folder: Path, cells: list[dict[str, Any]], axes: dict[str, list[str]]) -> list[str]:
    paths = write_charts(cells, axes, "recall_at_2000_tokens", folder)
    for path in paths:
        root = ET.parse(path).getroot()
        # A file that is shown by itself needs its name space, a size, and colours of its own.
        assert root.tag == f"{SVG}svg"
        assert 300 <= float(root.attrib["width"]) <= 4000
        assert 100 <= float(root.attrib["height"]) <= 4000
        assert "var(" not in path.read_text(encoding="utf-8")
        inside(root)
    return [path.name for path in paths]


def inside(root: ET.Element) -> None:
    """No text begins or ends outside the picture, taking 6.1 units for a letter."""
    left, _, width, _ = map(float, root.attrib["viewBox"].split())
    for text in root.iter(f"{SVG}text"):
        size = 6.1 * len(text.text or "")
        before = {"start": 0.0, "middle": size / 2, "end": size}[text.attrib["text-anchor"]]
        start = float(text.attrib["x"]) - before
        assert left <= start + 1
        assert start + size <= left + width + 1, text.text


def texts(folder: Path, name: str) -> list[str]:
    root = ET.parse(folder / name).getroot()
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def test_two_axes_give_curves_and_a_heat_map(tmp_path: Path) -> None:
    """A missing (failed) combination leaves a gap in the heat map and no error."""
    assert drawn(tmp_path, CELLS, AXES) == ["recall_over_k.svg", "recall_over_tokens.svg", "heatmap.svg"]
    assert {"0.800", "0.750", "0.700", "–"} <= set(texts(tmp_path, "heatmap.svg"))


def test_one_axis_gives_bars(tmp_path: Path) -> None:
    """A heat map of one row would say nothing more than bars with their intervals, best on top."""
    axes = {"model": ["minilm"], "chunk": ["128", "256"]}
    cells = [CELLS[0], CELLS[2]]
    assert drawn(tmp_path, cells, axes) == ["recall_over_k.svg", "recall_over_tokens.svg", "bars.svg"]
    bars = (tmp_path / "bars.svg").read_text(encoding="utf-8")
    boxes = re.findall(r'height="([\d.]+)" rx="1.5" class="tile"', bars)
    widths = [float(w) for w in re.findall(r'width="([\d.]+)" height="15.0" rx', bars)]
    assert len(boxes) == bars.count('class="whisker"') == 2
    assert widths[0] / widths[1] == pytest.approx(0.8 / 0.7, rel=1e-2)


def test_nothing_swept_gives_curves_only(tmp_path: Path) -> None:
    """One cell has nothing to be compared with."""
    assert drawn(tmp_path, CELLS[:1], {}) == ["recall_over_k.svg", "recall_over_tokens.svg"]


def test_charts_without_sense_are_left_out(tmp_path: Path) -> None:
    """One k is no curve; undefined values are not drawn; no cell gives no chart and makes no folder."""
    bare = [c | {"metrics": {"recall_at_5": float("nan"), "recall_at_2000_tokens": 0.5}} for c in CELLS]
    assert drawn(tmp_path, bare, AXES) == ["heatmap.svg"]
    assert drawn(tmp_path / "none", [], AXES) == []
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("score", [0.0, 1.0, float("nan")])
def test_equal_scores_are_drawn(tmp_path: Path, score: float) -> None:
    """All cells alike, or none defined, is no reason to fail."""
    cells = [cell(model, chunk, score) for model in AXES["model"] for chunk in AXES["chunk"]]
    assert "heatmap.svg" in drawn(tmp_path, cells, AXES)
    drawn(tmp_path, cells, {"chunk": ["128", "256"]})


def test_the_same_values_give_the_same_bytes(tmp_path: Path) -> None:
    """Charts can be redone and compared."""
    for name in ("a", "b"):
        drawn(tmp_path / name, CELLS, AXES)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(files) == 3
    assert all((tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files)


def test_names_are_text_whatever_they_hold(tmp_path: Path) -> None:
    """Markup in a name or a value stays text; signs that XML can't hold are replaced."""
    name = "<script>\"&'\x07</text>\ud800"
    cells = [cell(name, "128", 0.5), cell("b", "256", 0.4)]
    drawn(tmp_path, cells, {"model": [name, "b"], "chunk": ["128", "256"]})
    drawn(tmp_path, cells, {"model": [name, "b"]})
    for file in ("heatmap.svg", "bars.svg", "recall_over_k.svg"):
        assert any("<script>\"&'�</text>�" in text for text in texts(tmp_path, file))


def test_of_many_lines_the_best_and_the_worst_are_named(tmp_path: Path) -> None:
    """Nine cells, best first: six names and the last; the grey ones are counted."""
    cells = [cell(f"m{i}", "256", 0.9 - i / 100) for i in range(9)]
    drawn(tmp_path, cells, {})
    for file in ("recall_over_k.svg", "recall_over_tokens.svg"):
        found = texts(tmp_path, file)
        assert [t for t in found if t.startswith("m")] == [f"m{i} · 256" for i in (0, 1, 2, 3, 4, 5, 8)]
        assert any(text.endswith("; 2 cells in grey") for text in found)


def test_long_names_stay_inside_the_picture(tmp_path: Path) -> None:
    """A viewer shows nothing beyond the picture's border, so that the picture grows with the names."""
    cells = [cell(f"sentence-transformers/paraphrase-{i}", "128", 0.5 + i / 10) for i in range(4)]
    drawn(tmp_path, cells, {"model": [c["params"]["model"] for c in cells]})
    drawn(tmp_path, cells, {"model": [c["params"]["model"] for c in cells], "chunk": ["128", "256"]})


def scores(cells: list[dict[str, Any]]) -> list[CellScore]:
    return [CellScore(c["name"], c["params"], c["metrics"]["recall_at_2000_tokens"]) for c in cells]


def test_every_pair_of_settings_has_a_map() -> None:
    """Three settings make three maps; each field is the best over the third, and the best of all is marked by 1."""
    axes = {"model": ["a", "b"], "chunker.overlap": ["0", "32"], "chunk": ["128", "256", "512"]}
    cells = []
    for i, model in enumerate(axes["model"]):
        for j, overlap in enumerate(axes["chunker.overlap"]):
            for k, chunk in enumerate(axes["chunk"]):
                settings = {"model": model, "chunker.overlap": overlap, "chunk": chunk}
                cells.append(CellScore("", settings, 0.1 * i - 0.2 * j + 0.3 * (k == 1)))
    found = heat_maps(cells, axes)

    assert [(m.down, m.across, list(m.others)) for m in found] == [
        ("model", "overlap", ["chunk"]),
        ("model", "chunk", ["overlap"]),
        ("overlap", "chunk", ["model"]),
    ]
    keys = (("model", "chunker.overlap"), ("model", "chunk"), ("chunker.overlap", "chunk"))
    for heat, names in zip(found, keys, strict=True):
        for row, fields in heat.rows:
            for column, field in zip(heat.across_values, fields, strict=True):
                some = [c.value for c in cells if [c.params[name] for name in names] == [row, column]]
                assert field.text == f"{max(some):.3f}"
        assert max(field.share for _, fields in heat.rows for field in fields) == 1


def test_a_failed_cell_is_an_empty_field() -> None:
    """What was not scored is a dash, not a zero."""
    [heat] = heat_maps(scores(CELLS), AXES)

    assert [(row, [(f.text, f.name) for f in fields]) for row, fields in heat.rows] == [
        ("minilm", [("0.800", "minilm · 128"), ("0.700", "minilm · 256")]),
        ("bge", [("0.750", "bge · 128"), ("–", "not scored")]),
    ]


def test_a_heat_map_says_what_it_leaves_out(tmp_path: Path) -> None:
    """With more than two swept settings a field is the best over the others, which stand in the title."""
    axes = AXES | {"chunker.overlap": ["0", "32"], "rerank": ["none", "cross"], "corpus": ["one"]}
    drawn(tmp_path, CELLS, axes)
    assert "recall@2000t, the best over overlap, rerank" in texts(tmp_path, "heatmap.svg")
    drawn(tmp_path, CELLS, AXES)
    assert "recall@2000t" in texts(tmp_path, "heatmap.svg")
