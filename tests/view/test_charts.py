"""A sweep's recall curves as files, and the report's heat maps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from harness.results.finished import FinishedCell
from harness.view.report.effects import heat_maps
from harness.view.report.page import write_charts

METRIC = "recall_at_2000_tokens"
AXES = {"model": ["minilm", "bge"], "chunk": ["128", "256"]}
SVG = "{http://www.w3.org/2000/svg}"


def cell(model: str, chunk: str, score: float) -> dict[str, Any]:
    metrics = {"recall_at_1": score - 0.2, "recall_at_5": score, "recall_at_500_tokens": score - 0.1}
    metrics |= {METRIC: score}
    return {
        "name": f"{model} · {chunk}",
        "color": "#3772bb",
        "params": {"model": model, "chunk": chunk},
        "metrics": metrics,
    }


CELLS = [cell("minilm", "128", 0.8), cell("bge", "128", 0.75), cell("minilm", "256", 0.7)]


def drawn(folder: Path, cells: list[dict[str, Any]]) -> list[str]:
    paths = write_charts(cells, folder)
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


def test_a_cell_gives_a_curve_over_rows_and_one_over_tokens(tmp_path: Path) -> None:
    """Whatever is swept."""
    assert drawn(tmp_path, CELLS) == ["recall_over_k.svg", "recall_over_tokens.svg"]
    assert drawn(tmp_path, CELLS[:1]) == ["recall_over_k.svg", "recall_over_tokens.svg"]


def test_charts_without_sense_are_left_out(tmp_path: Path) -> None:
    """One k is no curve; undefined values are not drawn; no cell gives no chart and makes no folder."""
    bare = [c | {"metrics": {"recall_at_5": float("nan"), METRIC: 0.5}} for c in CELLS]
    assert drawn(tmp_path / "none", bare) == []
    assert drawn(tmp_path / "none", []) == []
    assert not (tmp_path / "none").exists()


def test_equal_scores_are_drawn(tmp_path: Path) -> None:
    """All cells alike is no reason to fail."""
    for score in (0.0, 1.0):
        cells = [cell(model, chunk, score) for model in AXES["model"] for chunk in AXES["chunk"]]
        assert len(drawn(tmp_path, cells)) == 2


def test_the_same_values_give_the_same_bytes(tmp_path: Path) -> None:
    """Charts can be redone and compared."""
    for name in ("a", "b"):
        drawn(tmp_path / name, CELLS)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(files) == 2
    assert all((tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files)


def test_names_are_text_whatever_they_hold(tmp_path: Path) -> None:
    """Markup in a name or a value stays text; signs that XML can't hold are replaced."""
    name = "<script>\"&'\x07</text>\ud800"
    cells = [cell(name, "128", 0.5), cell("b", "256", 0.4)]
    drawn(tmp_path, cells)
    assert any("<script>\"&'�</text>�" in text for text in texts(tmp_path, "recall_over_k.svg"))


def test_of_many_lines_the_best_and_the_worst_are_named(tmp_path: Path) -> None:
    """Nine cells, best first: six names and the last; the grey ones are counted."""
    cells = [cell(f"m{i}", "256", 0.9 - i / 100) for i in range(9)]
    drawn(tmp_path, cells)
    for file in ("recall_over_k.svg", "recall_over_tokens.svg"):
        found = texts(tmp_path, file)
        assert [t for t in found if t.startswith("m")] == [f"m{i} · 256" for i in (0, 1, 2, 3, 4, 5, 8)]
        assert any(text.endswith("; 2 cells in grey") for text in found)


def test_long_names_stay_inside_the_picture(tmp_path: Path) -> None:
    """A viewer shows nothing beyond the picture's border, so that the picture grows with the names."""
    cells = [cell(f"sentence-transformers/paraphrase-{i}", "128", 0.5 + i / 10) for i in range(4)]
    drawn(tmp_path, cells)


def finished(name: str, params: Mapping[str, str], score: float) -> FinishedCell:
    content = {"params": params, "metrics": {METRIC: score}, "health": {}, "timing": {}}
    return FinishedCell(name, "", Path(), content, {})


def test_every_pair_of_settings_has_a_map() -> None:
    """Three settings make three maps; each field is the best over the third, and the best of all is marked by 1."""
    axes = {"model": ["a", "b"], "chunker.overlap": ["0", "32"], "chunk": ["128", "256", "512"]}
    cells = []
    for i, model in enumerate(axes["model"]):
        for j, overlap in enumerate(axes["chunker.overlap"]):
            for k, chunk in enumerate(axes["chunk"]):
                settings = {"model": model, "chunker.overlap": overlap, "chunk": chunk}
                cells.append(finished("", settings, 0.1 * i - 0.2 * j + 0.3 * (k == 1)))
    found = heat_maps(cells, axes, METRIC)

    assert [(m.down, m.across, list(m.others)) for m in found] == [
        ("model", "overlap", ["chunk"]),
        ("model", "chunk", ["overlap"]),
        ("overlap", "chunk", ["model"]),
    ]
    keys = (("model", "chunker.overlap"), ("model", "chunk"), ("chunker.overlap", "chunk"))
    for heat, names in zip(found, keys, strict=True):
        for row, fields in heat.rows:
            for column, field in zip(heat.across_values, fields, strict=True):
                some = [
                    c.metric(METRIC) for c in cells if [c.params[name] for name in names] == [row, column]
                ]
                assert field.text == f"{max(some):.3f}"
        assert max(field.share for _, fields in heat.rows for field in fields) == 1


def test_a_failed_cell_is_an_empty_field() -> None:
    """What was not scored is a dash, not a zero."""
    cells = [finished(c["name"], c["params"], c["metrics"][METRIC]) for c in CELLS]
    [heat] = heat_maps(cells, AXES, METRIC)

    assert [(row, [(f.text, f.name) for f in fields]) for row, fields in heat.rows] == [
        ("minilm", [("0.800", "minilm · 128"), ("0.700", "minilm · 256")]),
        ("bge", [("0.750", "bge · 128"), ("–", "not scored")]),
    ]


def test_equal_scores_have_a_map() -> None:
    """All fields are in the middle of the scale; settings over which the best is taken are named."""
    axes = AXES | {"chunker.overlap": ["0", "32"], "corpus": ["one"]}
    cells = [finished("", {"model": m, "chunk": c}, 0.5) for m in AXES["model"] for c in AXES["chunk"]]
    heat = heat_maps(cells, axes, METRIC)[0]

    assert {field.share for _, fields in heat.rows for field in fields} == {0.5}
    assert heat.others == ["overlap"]
