"""The table of the terminal, and tables as files."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import pytest
from pyarrow import csv
from rich.cells import cell_len
from sweeps_by_hand import cell, sweep

from harness.view.table import Head, TextTable, cells_table, questions_table

HEADS = [
    Head("cell", left=True),
    Head("score"),
    Head("95%", optional=True),
    Head("verdict", left=True, wraps=True),
    Head("tokens"),
    Head("ms", optional=True),
]
ROWS = [
    ["minilm · 128", "0.761", "0.717–0.801", "winner", "1,485", "1.0"],
    ["日本語/モデル", "0.640", "0.588–0.690", "not ruled out", "485", "12.5"],
]


@pytest.fixture
def columns(monkeypatch):
    """Sets the width of a pipe."""
    return lambda count: monkeypatch.setenv("COLUMNS", str(count))


def test_numbers_stand_below_one_another(columns):
    """Texts flush left, numbers flush right, a rule below the headings, wide signs counted as two."""
    columns(80)

    assert TextTable(HEADS, ROWS).lines() == [
        "cell           score          95%  verdict        tokens    ms",
        "-" * 62,
        "minilm · 128   0.761  0.717–0.801  winner          1,485   1.0",
        "日本語/モデル  0.640  0.588–0.690  not ruled out     485  12.5",
    ]


def test_what_has_no_room_wraps_or_is_left_out_from_the_right(columns):
    """Words wrap first, then optional columns go; the others stay."""
    columns(58)
    wrapped = TextTable(HEADS, ROWS)
    columns(45)
    narrow = TextTable(HEADS, ROWS)

    assert wrapped.shown == [0, 1, 2, 3, 4, 5]
    assert ("not ruled" in wrapped.lines()[-2], wrapped.lines()[-1].strip()) == (True, "out")
    assert narrow.shown == [0, 1, 3, 4]
    assert all(cell_len(line) <= 45 for line in narrow.lines())


def test_a_pipe_gets_every_column(monkeypatch):
    """Without ``COLUMNS`` nothing is left out or broken, however many columns there are; with it, lines end there."""
    heads = [Head("cell", left=True), *(Head(f"optional {i}", optional=True) for i in range(40))]
    row = ["minilm · 128", *(f"{i}" for i in range(40))]
    monkeypatch.delenv("COLUMNS", raising=False)

    assert len(TextTable(heads, [row]).shown) == 41
    assert len(TextTable(heads, [row]).lines()) == 3
    monkeypatch.setenv("COLUMNS", "60")
    assert len(TextTable(heads, [row]).shown) < 41


@pytest.mark.parametrize("width", [20, 30, 40, 60])
def test_a_name_is_never_cut(columns, width):
    """A name that is too long stands on a line of its own, its numbers below it where all numbers stand."""
    columns(width)
    name = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2-distilled"
    lines = TextTable(HEADS[:2], [[name, "0.5"], ["short", "0.25"]]).lines()

    assert lines[2:] == [name, f"{'':<{len(lines[4]) - 3}}0.5", lines[4]]
    assert lines[4].startswith("short")
    assert len(lines[4]) <= width


def test_a_mark_may_stand_before_the_name(columns):
    """The long name keeps its mark, and is followed by its numbers."""
    columns(20)
    lines = TextTable([Head("", left=True), *HEADS[:2]], [["→", "x" * 30, "0.5"]], name=1).lines()

    assert lines[2] == "→  " + "x" * 30
    assert lines[3].strip() == "0.5"


def test_text_is_never_read_as_markup(columns):
    """Square brackets, emoji codes and blanks at the beginning are shown as they are."""
    columns(80)
    lines = TextTable([Head("cell", left=True), Head("a")], [["[bold]x[/bold] :smile:", "[1]"]]).lines()

    assert lines[2] == "[bold]x[/bold] :smile:  [1]"


def test_every_line_fits_where_it_can(columns):
    """Of all widths that hold the columns that must stay, none is exceeded."""
    for width, rows in itertools.product(range(36, 100), (ROWS, ROWS[:1], [])):
        columns(width)
        assert max(map(cell_len, TextTable(HEADS, rows).lines())) <= width


def test_a_table_is_drawn_only_when_it_is_printed():
    """A command that prints none does not wait for the library that draws it."""
    code = "import sys, harness.view.table; sys.exit('rich.table' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def example():
    first = cell("a", {"model": "a"}, run_id="abc123", recall_at_5=[1.0, 0.0], first_rank=[1.0, math.nan])
    second = cell("b", {"model": "b"}, recall_at_5=[0.5, math.nan], mrr=[1.0, 1.0])
    failed = ({"name": "c", "error": "It, too, failed."},)
    return sweep(first, second, axes={"model": ["a", "b", "c"]}, failures=failed)


def test_one_row_for_each_cell(tmp_path) -> None:
    """Settings, every figure and what was measured on; failed cells keep their place with the reason; csv reads back."""
    rows = cells_table(example()).to_pylist()

    assert [(row["cell"], row["model"], row["recall_at_5"], row["error"]) for row in rows] == [
        ("a", "a", 0.5, None),
        ("b", "b", 0.5, None),
        ("c", None, None, "It, too, failed."),
    ]
    assert rows[0]["run_id"] == "abc123"
    assert rows[0]["chunks"] == 10.0
    assert rows[0]["search_seconds"] == 0.5
    assert rows[0]["golden_digest"] == "g"
    assert rows[0]["mrr"] is None
    csv.write_csv(cells_table(example()), tmp_path / "table.csv")
    assert csv.read_csv(tmp_path / "table.csv").num_rows == 3


def test_one_row_for_each_cell_and_question() -> None:
    """Undefined values and columns that a cell lacks are null, and the axes stand beside the cell's name."""
    rows = questions_table(example()).to_pylist()

    assert [(row["cell"], row["model"], row["question_id"]) for row in rows] == [
        ("a", "a", "q0"),
        ("a", "a", "q1"),
        ("b", "b", "q0"),
        ("b", "b", "q1"),
    ]
    assert [row["recall_at_5"] for row in rows] == [1.0, 0.0, 0.5, None]
    assert [row["first_rank"] for row in rows] == [1.0, None, 1.0, 1.0]
    assert [row["mrr"] for row in rows] == [None, None, 1.0, 1.0]
    assert questions_table(sweep(axes={})).num_rows == 0
