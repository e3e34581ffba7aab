"""Tables: of the terminal, with as many columns as the line has room for, and as files for other programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.cells import cell_len

from harness.cli.say import table_width
from harness.errors import StoreError
from harness.results.finished import FinishedSweep

# Stands for a name that is too long for its column.
_LONG = "\ue000"
_GAP = 2


class Head(NamedTuple):
    """A column's heading and layout.

    ``left``: texts are flush left, otherwise right. ``optional``: left out, from the right, where the line
    has no room. ``wraps``: broken at blanks before anything is left out. ``dim``: pale on a terminal.
    """

    title: str
    left: bool = False
    optional: bool = False
    wraps: bool = False
    dim: bool = False


class TextTable:
    """Rows of texts below their headings, as wide as the terminal or ``COLUMNS``; in a pipe, all of them.

    The column at place ``name`` is never cut: a name that is too long stands on a line of its own.
    ``shown`` are the places of the columns that the line has room for.
    """

    def __init__(self, heads: Sequence[Head], rows: Sequence[Sequence[str]], *, name: int = 0) -> None:
        self.heads, self.rows, self.name = heads, rows, name
        self.limit = table_width()
        columns = [[head.title, *(row[i] for row in rows)] for i, head in enumerate(heads)]
        self._full = [max(map(cell_len, texts)) for texts in columns]
        self._least = [
            max((cell_len(word) for text in texts for word in text.split()), default=0)
            if head.wraps
            else full
            for head, texts, full in zip(heads, columns, self._full, strict=True)
        ]
        self.shown = list(range(len(heads)))
        for i in reversed(range(len(heads))):
            if heads[i].optional and self._spare() < 0:
                self.shown.remove(i)

    def lines(self) -> list[str]:
        """The headings, a rule, and the rows."""
        from rich.box import Box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        sizes = self._sizes()
        rule = Box("    \n    \n -- \n    \n    \n    \n    \n    \n")
        table = Table(box=rule, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0), header_style="")
        for i in self.shown:
            table.add_column(
                Text(self.heads[i].title),
                justify="left" if self.heads[i].left else "right",
                width=sizes[i],
                no_wrap=not self.heads[i].wraps,
                style="dim" if self.heads[i].dim else "",
                header_style="dim" if self.heads[i].dim else "",
            )
        for row in self.rows:
            table.add_row(*(Text(_LONG if self._is_long(i, row, sizes) else row[i]) for i in self.shown))
        total = sum(sizes.values()) + _GAP * (len(sizes) - 1)
        on_terminal = sys.stdout.isatty()
        console = Console(
            width=total, force_terminal=on_terminal, color_system="standard" if on_terminal else None
        )
        with console.capture() as capture:
            console.print(table)
        long = (row[self.name] for row in self.rows if self._is_long(self.name, row, sizes))
        lines: list[str] = []
        for line in capture.get().splitlines():
            before, found, after = line.partition(_LONG)
            if found:
                lines.append(before + next(long))
            lines.append((f"{' ' * (cell_len(before) + 1)}{after}" if found else line).rstrip())
        return lines

    def _spare(self) -> int:
        """What is left of the line when every column is as narrow as it may be; negative if too wide."""
        return self.limit - sum(self._least[i] + _GAP for i in self.shown) + _GAP

    def _sizes(self) -> dict[int, int]:
        """The width of each shown column: as narrow as it may be, but columns that wrap share the rest."""
        sizes, spare = {i: self._least[i] for i in self.shown}, self._spare()
        if spare < 0:
            room = sizes[self.name] + spare
            names = [
                cell_len(text)
                for text in (self.heads[self.name].title, *(row[self.name] for row in self.rows))
            ]
            sizes[self.name] = max([1, *(size for size in names if size <= room)])
            spare = room - sizes[self.name]
        for i in self.shown:
            more = min(max(0, spare), self._full[i] - self._least[i]) if self.heads[i].wraps else 0
            sizes[i] += more
            spare -= more
        return sizes

    def _is_long(self, place: int, row: Sequence[str], sizes: Mapping[int, int]) -> bool:
        return place == self.name and cell_len(row[place]) > sizes[place]


def write_tables(sweep: FinishedSweep, path: Path, kind: str) -> list[Path]:
    """Writes the table of cells to ``path`` and the questions beside it; ``kind``: csv or parquet."""
    from pyarrow import csv, parquet

    write = csv.write_csv if kind == "csv" else parquet.write_table
    other = path.with_name(f"{path.stem}-questions{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(cells_table(sweep), path)
        write(questions_table(sweep), other)
    except OSError as error:
        raise StoreError(
            f"{path} can't be written: {error}. Choose another file with output=FILE.", where=path
        ) from error
    return [path, other]


def cells_table(sweep: FinishedSweep) -> Any:
    """A ``pyarrow.Table``, one row per cell, best first; failed cells come last, with their ``error``.

    Columns: ``cell``, ``run_id``, ``error``, the settings as text, every metric, figure of health and timing
    by its flat name (null where a cell has none), and the digests of corpus, golden set and tokenizer.
    """
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    for cell in sweep.cells:
        content = cell.content
        figures = content["metrics"] | content["health"] | content["timing"]
        digests = {key: content[key] for key in ("corpus_digest", "golden_digest", "tokenizer_digest")}
        named = {"cell": cell.name, "run_id": cell.run_id, "error": None}
        rows.append(
            named | {key: str(value) for key, value in cell.params.items()} | _numbers(figures) | digests
        )
    rows += [{"cell": failure["name"], "run_id": "", "error": failure["error"]} for failure in sweep.failures]
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def questions_table(sweep: FinishedSweep) -> Any:
    """A ``pyarrow.Table`` per cell and question: ``cell``, axes, columns of ``questions.parquet``."""
    import pyarrow as pa

    axes = [axis.lstrip("+") for axis in sweep.axes]
    tables = []
    for cell in sweep.cells:
        rows = len(cell.questions["question_id"])
        named = {
            "cell": cell.name,
            **{axis: cell.params[axis] for axis in axes if axis not in cell.questions},
        }
        columns = {name: pa.array([value] * rows, pa.string()) for name, value in named.items()}
        for name, values in cell.questions.items():
            if values.dtype.kind == "f":
                columns[name] = pa.array(values, from_pandas=True)
            else:
                columns[name] = pa.array(values.astype(object), pa.string())
        tables.append(pa.table(columns))
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def _numbers(figures: dict[str, float]) -> dict[str, float | None]:
    """Undefined values as nulls, because not every program reads nan in a csv file."""
    return {name: float(value) if np.isfinite(value) else None for name, value in figures.items()}
