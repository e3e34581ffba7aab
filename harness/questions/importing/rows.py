"""Files of rows into named values: tables, JSON lines, and whole JSON documents that hold a list of rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.golden.lines import whole
from harness.questions.importing import REASON, Layout, Refused, Row
from harness.questions.importing.columns import plain
from harness.questions.importing.table import Record, Table


class Rows(NamedTuple):
    """The rows that could be read, each with its values by name, those that could not, and how to write them again."""

    named: list[tuple[Row, Mapping[str, Any]]]
    refused: list[Refused]
    layout: Layout | None = None

    @property
    def total(self) -> int:
        """All rows of the file, usable or not."""
        return len(self.named) + len(self.refused)


def of_table(table: Table, columns: Sequence[str]) -> Rows:
    """The records of a table whose columns have these names. Missing cells at the end of a row are empty."""
    named: list[tuple[Row, Mapping[str, Any]]] = []
    refused = []
    kept = [i for i, column in enumerate(columns) if plain(column) != REASON]
    names = tuple(columns[i] for i in kept)
    for number, record in enumerate(table.records):
        is_wide = len(record.cells) > len(columns)
        cells = [cell for i, cell in enumerate(record.cells) if i in kept or i >= len(columns)]
        row = Row(number, f"line {record.line}", cells)
        if not record.is_sound or is_wide:
            refused.append(Refused(row, _fault(record, columns)))
        else:
            padded = [*cells, *[""] * (len(names) - len(cells))]
            named.append((row, {name: whole(cell) for name, cell in zip(names, padded, strict=True)}))
    return Rows(named, refused, Layout(names, table.delimiter))


def _fault(record: Record, columns: Sequence[str]) -> str:
    if not record.is_sound:
        return "a quotation mark is opened and never closed; write two of them for one inside a cell."
    return (
        f"{len(record.cells)} cells, but there are {len(columns)} columns; put a cell that holds the delimiter "
        "into quotation marks."
    )


def of_lines(text: str) -> Rows:
    """JSON lines; a line that is no object is refused."""
    named: list[tuple[Row, Mapping[str, Any]]] = []
    refused = []
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError) as error:
            item, reason = (
                None,
                f"not JSON ({getattr(error, 'msg', '') or error}); one whole object a line is expected.",
            )
        else:
            reason = "no JSON object; one object a line is expected."
        if isinstance(item, dict):
            named.append(
                (Row(number, f"line {number + 1}", without_reason(item)), whole(without_reason(item)))
            )
        else:
            refused.append(Refused(Row(number, f"line {number + 1}", line.rstrip("\r")), reason))
    return Rows(named, refused)


def of_entries(entries: Sequence[Any]) -> Rows:
    """The entries of a JSON list, counted from 1."""
    named: list[tuple[Row, Mapping[str, Any]]] = []
    refused = []
    for number, item in enumerate(entries):
        where = f"entry {number + 1}"
        if isinstance(item, dict):
            named.append((Row(number, where, without_reason(item)), whole(without_reason(item))))
        else:
            row = Row(number, where, json.dumps(item, ensure_ascii=False))
            refused.append(Refused(row, "no JSON object; a list of objects is expected."))
    return Rows(named, refused)


def of_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of an object of columns, each a list or an object by row (pandas and Hugging Face write both); None if it is none."""
    if not columns:
        return None
    if all(isinstance(column, dict) for column in columns.values()):
        keys = dict.fromkeys(key for column in columns.values() for key in column)
        return [{name: column.get(key) for name, column in columns.items()} for key in keys]
    if all(isinstance(column, list) for column in columns.values()):
        if len({len(column) for column in columns.values()}) > 1:
            return None
        cells: Iterator[tuple[Any, ...]] = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in cells]
    return None


def without_reason(item: Mapping[str, Any]) -> dict[str, Any]:
    """A row as it was before it was refused once."""
    return {key: value for key, value in item.items() if key != REASON}
