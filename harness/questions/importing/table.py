"""Tables as spreadsheets and programs write them: any delimiter, quoted line breaks, no header; Parquet."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.questions.importing.columns import meanings
from harness.text.opening import PARQUET, opened

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE_CHARACTERS = 50_000
_SAMPLE_RECORDS = 20
csv.field_size_limit(sys.maxsize)  # of a cell
_EXCEL = re.compile(r"sep=(.)\r?\n")  # a first line that Excel writes and reads

# A NumPy array as it is printed: items with blanks between them. Python would join texts into one.
_ITEM = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d*)?(?=[\s\]])"""
_PRINTED = re.compile(rf"\s*\[\s*(?:(?:{_ITEM})\s*){{2,}}\]\s*")


class Record(NamedTuple):
    """One record of a table: the line on which it begins, and its cells.

    ``is_sound``: False for a line that is not a record.
    """

    line: int
    cells: list[str]
    is_sound: bool = True


class CellTable(NamedTuple):
    """A table's delimiter, its column names (none without a header), and its records below the header."""

    delimiter: str
    columns: tuple[str, ...]
    records: list[Record]

    @property
    def separated(self) -> str:
        """How its cells are separated, in words."""
        return f"separated by {_DELIMITERS.get(self.delimiter, self.delimiter)}"


def names_question(cells: Sequence[str]) -> bool:
    """Whether one of the cells is the name of a column of questions."""
    return "question" in meanings(cells)


def read_table(
    text: str, *, has_header: bool | None = None, is_header: Callable[[Sequence[str]], bool] = names_question
) -> CellTable:
    """The table in ``text``.

    ``is_header`` tells whether a first row is a header, unless ``has_header`` says so.

    A record with a quotation mark that is never closed, or more cells than there are columns, does not
    swallow the lines after it: its first line is taken alone.
    """
    lines_before, delimiter = 0, None
    if mark := _EXCEL.match(text):
        delimiter, text, lines_before = mark[1], text[mark.end() :], 1
    chosen = delimiter or _delimiter(text, is_header)
    first = next(_records(text, chosen, None), None)
    if first is None:
        return CellTable(chosen, (), [])
    width = len(first.cells)
    has_header = is_header(first.cells) if has_header is None else has_header
    records = [record._replace(line=record.line + lines_before) for record in _records(text, chosen, width)]
    if not has_header:
        return CellTable(chosen, (), records)
    columns = tuple(name.strip() or f"column_{i}" for i, name in enumerate(first.cells, start=1))
    return CellTable(chosen, columns, records[1:])


def _delimiter(text: str, is_header: Callable[[Sequence[str]], bool]) -> str:
    """The delimiter that gives the most columns with known names, then the most regular rows."""
    sample = text[:_SAMPLE_CHARACTERS]
    return max(_DELIMITERS, key=lambda delimiter: _fitness(sample, delimiter, is_header))


def _fitness(
    sample: str, delimiter: str, is_header: Callable[[Sequence[str]], bool]
) -> tuple[int, float, int]:
    rows = []
    for record in _records(sample, delimiter, None):
        rows.append(record.cells)
        if len(rows) == _SAMPLE_RECORDS:
            break
    if not rows:
        return 0, 0.0, 0
    known = max(1, len(meanings(rows[0]))) if len(rows[0]) > 1 and is_header(rows[0]) else 0
    cells, count = Counter(map(len, rows)).most_common(1)[0]
    # Two columns are what people write by hand; a comma in every question must not look like a third.
    return known, count / len(rows) if cells > 1 else 0.0, -cells


def _records(text: str, delimiter: str, width: int | None) -> Iterator[Record]:
    """The records that are not blank. With a ``width``, those that run over lines must have so many cells."""
    lines = io.StringIO(text, newline="").readlines()
    at = 0
    while at < len(lines):
        cells, taken = _one(lines, at, delimiter)
        if cells is None or (taken > 1 and width is not None and len(cells) != width):
            cells, taken = _line_alone(lines[at], delimiter, width)
        is_sound = cells is not None
        if cells is None:
            yield Record(at + 1, [lines[at].rstrip("\r\n")], is_sound)
        elif any(cell.strip() for cell in cells):
            yield Record(at + 1, cells, is_sound)
        at += taken


def _one(lines: Sequence[str], at: int, delimiter: str) -> tuple[list[str] | None, int]:
    """The record that begins on line ``at``, and its number of lines; None for one that is never closed."""
    reader = csv.reader((lines[i] for i in range(at, len(lines))), delimiter=delimiter, strict=True)
    try:
        return next(reader, []), reader.line_num
    except csv.Error:
        return None, 1


def _line_alone(line: str, delimiter: str, width: int | None) -> tuple[list[str] | None, int]:
    """One line with literal quotation marks; None if its number of cells is still wrong."""
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        with suppress(csv.Error):
            cells = next(csv.reader([line], delimiter=delimiter, quoting=quoting), [])
            if not any("\n" in cell for cell in cells) and (width is None or len(cells) == width):
                return cells, 1
    return None, 1


def cell_value(cell: str) -> str | list[Any]:
    """The cell; a list where a NumPy array of texts or numbers was printed into it."""
    return [*map(ast.literal_eval, re.findall(_ITEM, cell))] if _PRINTED.fullmatch(cell) else cell


def parquet_rows(path: Path) -> list[Any] | None:
    """The rows of a Parquet file, dates as texts; None for any other. Raises ``InputError``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with opened(path) as file:
        if file.read(len(PARQUET)) != PARQUET:
            return None
    try:
        rows = pq.read_table(path).to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is a Parquet file that can't be read ({error}).", path=path) from None
    return list(json.loads(json.dumps(rows, default=str)))
