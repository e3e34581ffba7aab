"""Files of rows into named values: tables, JSON lines, JSON documents, question sets of LlamaIndex."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.golden.jsonl import encodable_json
from harness.questions.importing import REASON, GivenRow, Refused, TableLayout
from harness.questions.importing.columns import plain
from harness.questions.importing.table import CellTable, Record
from harness.text.encodings import encodable
from harness.view.formats import counted


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
        """Adds an object, without the mark of an earlier refusal; refuses anything else, as ``written``."""
        if isinstance(row.given, dict):
            item = {key: value for key, value in row.given.items() if key != REASON}
            self.named.append((row._replace(given=item), encodable_json(item)))
        else:
            self.refused.append(Refused(row._replace(given=written), reason))


def of_table(table: CellTable, columns: Sequence[str]) -> NamedRows:
    """The records of a table whose columns have these names. Missing cells at the end of a row are empty."""
    named: list[tuple[GivenRow, Mapping[str, Any]]] = []
    refused = []
    used = [i for i, column in enumerate(columns) if plain(column) != REASON]
    names = tuple(columns[i] for i in used)
    for number, record in enumerate(table.records):
        is_wide = len(record.cells) > len(columns)
        cells = [cell for i, cell in enumerate(record.cells) if i in used or i >= len(columns)]
        row = GivenRow(number, f"line {record.line}", cells)
        if not record.is_sound or is_wide:
            refused.append(Refused(row, _fault(record, columns)))
        else:
            padded = [*cells, *[""] * (len(names) - len(cells))]
            named.append((row, {name: encodable(cell) for name, cell in zip(names, padded, strict=True)}))
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


def of_columns(columns: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of an object of columns (as pandas and Hugging Face write them); None for other objects."""
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


def rows_of_llama_index(content: Any) -> NamedRows | None:
    """The rows of such a file; None for any other."""
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("examples"), list):
        read = of_entries(content["examples"])
        return read._replace(named=[(row, _example(fields)) for row, fields in read.named])
    if all(isinstance(content.get(key), dict) for key in ("queries", "corpus", "relevant_docs")):
        return _pairs(content["queries"], content["corpus"], content["relevant_docs"])
    return None


def _example(fields: Mapping[str, Any]) -> dict[str, Any]:
    """``query_by`` says whether a model wrote the question."""
    by = fields.get("query_by")
    is_written = isinstance(by, dict) and by.get("type") == "ai"
    return {"source": "synthetic", **fields} if is_written else dict(fields)


def _pairs(queries: Mapping[str, Any], corpus: Mapping[str, Any], relevant: Mapping[str, Any]) -> NamedRows:
    """Each query with the texts of its nodes, since the ids of nodes are LlamaIndex's own."""
    named: list[tuple[GivenRow, Mapping[str, Any]]] = []
    refused = []
    for number, query_id in enumerate(dict.fromkeys([*queries, *relevant])):
        nodes = relevant.get(query_id) or []
        nodes = nodes if isinstance(nodes, list) else [nodes]
        given = {"question_id": query_id, "question": queries.get(query_id)}
        given |= {"reference_contexts": [corpus[node] for node in nodes if node in corpus]}
        row = GivenRow(number, f'query "{query_id}"', {**given, "relevant_docs": nodes})
        missing = [node for node in nodes if node not in corpus]
        if query_id not in queries:
            refused.append(Refused(row, "it has relevant_docs, but no text in queries.", query_id))
        elif missing:
            refused.append(
                Refused(row, f'relevant_docs names "{missing[0]}", which is not in corpus.', query_id)
            )
        else:
            named.append((row._replace(given=given), encodable_json(given)))
    return NamedRows(named, refused)
