"""Rows with their values by name: of tables, JSON lines and JSON documents; and the shapes that rows have."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.golden.jsonl import FieldError, encodable_json
from harness.questions.importing import REASON, GivenRow, Refused, TableLayout
from harness.questions.importing.columns import PROPOSED, is_given, meanings, plain
from harness.questions.importing.entry import id_in
from harness.questions.importing.table import CellTable, Record, cell_value
from harness.text.encodings import encodable
from harness.view.formats import counted

_OURS = {REASON, *PROPOSED}
UNEXPECTED = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # of values of another kind


class WrongKindError(FieldError):
    """A row that belongs to another kind of file; a file of such rows alone is refused as a whole."""


class Shape(NamedTuple):
    """Rows as another tool writes them, told by several of their keys together.

    ``name`` is for ``format=``, ``title`` for people. ``fits`` gets a row with its keys as ``plain`` gives
    them; the values are blank texts where the row is a table's header. ``read`` gives the row with our names;
    None for a row that says nothing, such as a document that nobody rated. It raises ``FieldError``.
    ``is_whole``: all rows of a file have this shape, or none.
    """

    name: str
    title: str
    fits: Callable[[Mapping[str, Any]], bool]
    read: Callable[[dict[str, Any]], dict[str, Any] | None]
    is_whole: bool = False


class NamedRows(NamedTuple):
    """The rows that could be read with their values by name, the refused ones, and the table's layout."""

    named: list[tuple[GivenRow, Mapping[str, Any]]]
    refused: list[Refused]
    layout: TableLayout | None = None

    @property
    def total(self) -> int:
        """All rows of the file, usable or not."""
        return len(self.named) + len(self.refused)

    def add(self, row: GivenRow, written: str, reason: str) -> None:
        """Adds an object, without what an earlier refusal added; refuses anything else, as ``written``."""
        if isinstance(row.given, dict):
            item = {key: value for key, value in row.given.items() if key not in _OURS}
            self.named.append((row._replace(given=item), encodable_json(item)))
        else:
            self.refused.append(Refused(row._replace(given=written), reason))


def of_table(table: CellTable, columns: Sequence[str]) -> NamedRows:
    """The records of a table whose columns have these names. Missing cells at the end of a row are empty."""
    named: list[tuple[GivenRow, Mapping[str, Any]]] = []
    refused = []
    used = [i for i, column in enumerate(columns) if plain(column) not in _OURS]
    names = tuple(columns[i] for i in used)
    for number, record in enumerate(table.records):
        is_wide = len(record.cells) > len(columns)
        cells = [cell for i, cell in enumerate(record.cells) if i in used or i >= len(columns)]
        row = GivenRow(number, f"line {record.line}", cells)
        if not record.is_sound or is_wide:
            refused.append(Refused(row, _fault(record, columns)))
        else:
            padded = [*cells, *[""] * (len(names) - len(cells))]
            values = {name: cell_value(encodable(cell)) for name, cell in zip(names, padded, strict=True)}
            named.append((row, values))
    return NamedRows(named, refused, TableLayout(names, table.delimiter))


def _fault(record: Record, columns: Sequence[str]) -> str:
    if not record.is_sound:
        return "a quotation mark is opened and never closed; write two of them for one inside a cell."
    return (
        f"{counted(len(record.cells), 'cell')}, but {counted(len(columns), 'column')}; "
        "put a cell that contains the delimiter into quotation marks."
    )


def of_lines(text: str) -> NamedRows:
    """JSON lines; a line that is not an object is refused."""
    rows = NamedRows([], [])
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        item, reason = None, "not a JSON object; one object a line is expected."
        try:
            item = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = f"not JSON ({getattr(error, 'msg', '') or error}); one whole object a line is expected."
        rows.add(GivenRow(number, f"line {number + 1}", item), line.rstrip("\r"), reason)
    return rows


def of_entries(entries: Sequence[Any]) -> NamedRows:
    """The entries of a JSON list, counted from 1."""
    rows = NamedRows([], [])
    for number, item in enumerate(entries):
        written = json.dumps(item, ensure_ascii=False)
        reason = "not a JSON object; a list of objects is expected."
        rows.add(GivenRow(number, f"entry {number + 1}", item), written, reason)
    return rows


def is_indexed(columns: Mapping[str, Any]) -> bool:
    """Whether these are columns: lists, or objects whose keys are the numbers of rows."""
    values = columns.values()
    are_objects = all(isinstance(value, dict) and all(key.isdigit() for key in value) for value in values)
    return are_objects or all(isinstance(value, list) for value in values)


def of_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of an object of columns, as pandas writes them, or of rows by id; None for other objects."""
    are_lists = all(isinstance(column, list) for column in columns.values())
    if not columns or not (are_lists or all(isinstance(column, dict) for column in columns.values())):
        return None
    if not are_lists and all("question" in meanings(row) for row in columns.values()):
        return [{"question_id": name, **row} for name, row in columns.items()]
    cells = {name: dict(enumerate(c)) if are_lists else c for name, c in columns.items()}
    keys = next(iter(cells.values())).keys()
    if any(column.keys() != keys for column in cells.values()):
        return None
    return [{name: column[key] for name, column in cells.items()} for key in keys]


class ShapedRows(NamedTuple):
    """Rows under our names, the title of the shape that most of them have, and how many say nothing."""

    rows: NamedRows
    title: str
    empty: int


def shaped(
    rows: NamedRows,
    shapes: Iterable[Shape],
    check: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    forced: str | None = None,
) -> ShapedRows:
    """The rows as the ``shapes`` that each has read them, one after another: an example may hold a golden.

    A row without a shape stays as it is, unless its shape is ``forced``. ``check`` gets the result and gives
    the row to keep. Raises ``WrongKindError`` when it or ``read`` raise that for all rows.
    """
    given = [(row, fields, {plain(key): fields[key] for key in fields}) for row, fields in rows.named]
    shapes = [shape for shape in shapes if not shape.is_whole or all(shape.fits(item) for *_, item in given)]
    titles: Counter[str] = Counter()
    named, refused, wrong = [], list(rows.refused), []
    for row, fields, item in given:
        title = next((shape.title for shape in shapes if shape.name == forced or shape.fits(item)), "")
        titles[title] += 1
        try:
            read = encodable_json(_read(item, shapes, forced)) if title else fields
            if read is not None:
                named.append((row, check(read)))
        except FieldError as error:
            wrong += [error] * isinstance(error, WrongKindError)
            refused.append(Refused(row, str(error), given_id(fields)))
    if wrong and len(wrong) == rows.total:
        raise wrong[0]
    title = max(titles, key=lambda known: titles[known], default="")
    return ShapedRows(NamedRows(named, refused, rows.layout), title, rows.total - len(named) - len(refused))


def given_id(fields: Mapping[str, Any]) -> str:
    """The question's id; empty where there is none, or nothing that can be one."""
    try:
        return id_in(fields)
    except FieldError:
        return ""


def _read(item: dict[str, Any], shapes: Iterable[Shape], forced: str | None) -> dict[str, Any] | None:
    read: dict[str, Any] | None = dict(item)
    for shape in shapes:
        if read is not None and (shape.name == forced or shape.fits(read)):
            try:
                read = shape.read(read)
            except FieldError:
                raise
            except UNEXPECTED:
                raise FieldError(f"it has the keys of the format {shape.name}, but not its values.") from None
    if read is not None and is_given(item.get("quote")):
        read.pop("evidence", None)  # whoever corrected a refused row wrote the quote beside it
    return read
