"""The report's recall curves and heat maps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from harness.results.finished import FinishedCell
from harness.view.report.effects import heat_maps
from harness.view.report.plots import left_grey, recall_lines

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


PATTERNS = (r"recall_at_(\d+)", r"recall_at_(\d+)_tokens")


def drawn(cells: list[dict[str, Any]]) -> list[ET.Element]:
    """Both charts, those that are left out aside."""
    metrics = {c["name"]: c["metrics"] for c in cells}
    charts = [recall_lines(metrics, pattern, "rows") for pattern in PATTERNS]
    roots = [ET.fromstring(str(chart)) for chart in charts if chart is not None]
    for root in roots:
        inside(root)
    return roots


def inside(root: ET.Element) -> None:
    """No text ends outside the picture (overflow is visible: 8 units), taking 6.1 units for a letter."""
    left, _, width, _ = map(float, root.attrib["viewBox"].split())
    for text in root.iter(f"{SVG}text"):
        size = 6.1 * len(text.text or "")
        before = {"start": 0.0, "middle": size / 2, "end": size}[text.attrib["text-anchor"]]
        start = float(text.attrib["x"]) - before
        assert left <= start + 8
        assert start + size <= left + width + 8, text.text


def texts(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def test_a_cell_gives_a_curve_over_rows_and_one_over_tokens() -> None:
    """Whatever is swept."""
    assert len(drawn(CELLS)) == 2
    assert len(drawn(CELLS[:1])) == 2


def test_charts_without_sense_are_left_out() -> None:
    """One k is no curve; undefined values are not drawn; no cell gives no chart."""
    bare = [c | {"metrics": {"recall_at_5": float("nan"), METRIC: 0.5}} for c in CELLS]
    assert drawn(bare) == []
    assert drawn([]) == []


def test_equal_scores_are_drawn() -> None:
    """All cells alike is no reason to fail."""
    for score in (0.0, 1.0):
        cells = [cell(model, chunk, score) for model in AXES["model"] for chunk in AXES["chunk"]]
        assert len(drawn(cells)) == 2


def test_names_are_text_whatever_they_hold() -> None:
    """Markup in a name or a value stays text."""
    name = "<script>\"&'</text>"
    roots = drawn([cell(name, "128", 0.5), cell("b", "256", 0.4)])
    assert any(name in text for text in texts(roots[0]))


def test_of_many_lines_the_best_and_the_worst_are_named() -> None:
    """Nine cells, best first: six names and the last; the others are grey."""
    cells = [cell(f"m{i}", "256", 0.9 - i / 100) for i in range(9)]
    for root in drawn(cells):
        assert [t for t in texts(root) if t.startswith("m")] == [f"m{i} · 256" for i in (0, 1, 2, 3, 4, 5, 8)]
    assert left_grey({c["name"]: c["metrics"] for c in cells}, PATTERNS[0]) == 2


def test_long_names_stay_inside_the_picture() -> None:
    """Nothing is shown beyond the picture's border, so that the picture grows with the names."""
    cells = [cell(f"sentence-transformers/paraphrase-{i}", "128", 0.5 + i / 10) for i in range(4)]
    assert len(drawn(cells)) == 2


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
