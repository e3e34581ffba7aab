"""Traffic by document, from a file of the user's."""

from __future__ import annotations

import csv
import difflib
import json
import math
from collections.abc import Collection, Iterator
from pathlib import Path

from harness.errors import InputError
from harness.golden.lines import read_lines
from harness.golden.names import shown_id

_COLUMNS = (
    {"doc_id", "id", "document", "path", "page", "url"},
    {"weight", "traffic", "views", "visits", "hits", "count"},
)


def read_weights(path: Path, doc_ids: Collection[str]) -> dict[str, float]:
    """Weight by document id. Two columns (comma, tab or semicolon; a header may be there) or JSON lines of ``doc_id`` and ``weight``.

    Raises ``InputError`` with the line for an unknown id (with near ones), an id given twice, a weight that is no number or below 0, and
    when no weight is above 0.
    """
    if not path.is_file():
        raise InputError(
            f"generator.weights is {path}, and there is no such file (looked from {Path.cwd()}).", path=path
        )
    weights: dict[str, float] = {}
    lines: dict[str, int] = {}
    for line, doc_id, written in _rows(path):
        if doc_id not in doc_ids:
            raise InputError(
                f"{path}:{line}: there is no document {shown_id(doc_id)}.{_near(doc_id, doc_ids)}",
                path=path,
                line=line,
            )
        if doc_id in weights:
            raise InputError(
                f"{path}:{line}: {shown_id(doc_id)} stands in line {lines[doc_id]} already; add the two up.",
                path=path,
                line=line,
            )
        weights[doc_id], lines[doc_id] = _weight(written, path, line), line
    if not any(weights.values()):
        raise InputError(
            f"{path} gives no document a weight above 0. Lines of a document id and a number are expected.",
            path=path,
        )
    return weights


def _rows(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, document id and weight as they are written."""
    separator = ""
    for line, text in read_lines(path):
        if not separator:
            separator = (
                "{" if text.lstrip().startswith("{") else next((mark for mark in "\t;," if mark in text), ",")
            )
            if separator != "{" and _is_header(_cells(text, separator)):
                continue
        cells = _entries(text, path, line) if separator == "{" else _cells(text, separator)
        if len(cells) != 2:
            raise InputError(
                f"{path}:{line}: {len(cells)} column{'s' * (len(cells) != 1)}; two are expected, a document id and a weight.",
                path=path,
                line=line,
            )
        yield line, cells[0], cells[1]


def _cells(text: str, separator: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([text], delimiter=separator))]


def _is_header(cells: list[str]) -> bool:
    return len(cells) == 2 and cells[0].lower() in _COLUMNS[0] and cells[1].lower() in _COLUMNS[1]


def _entries(text: str, path: Path, line: int) -> list[str]:
    try:
        item = json.loads(text)
    except (ValueError, RecursionError):
        item = None
    if not isinstance(item, dict) or not {"doc_id", "weight"} <= item.keys():
        raise InputError(
            f'{path}:{line}: an object with "doc_id" and "weight" is expected in each line.',
            path=path,
            line=line,
        )
    return [str(item["doc_id"]), json.dumps(item["weight"])]


def _weight(written: str, path: Path, line: int) -> float:
    try:
        weight = float(written)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise InputError(
            f"{path}:{line}: the weight is {written!r}; a number from 0 on is expected.", path=path, line=line
        )
    return weight


def _near(doc_id: str, doc_ids: Collection[str]) -> str:
    """Which ids may have been meant: those that end in the same name, else those that look alike."""
    name = doc_id.rstrip("/").rpartition("/")[2].lower()
    near = sorted(other for other in doc_ids if other.lower().rpartition("/")[2] == name)[
        :3
    ] or difflib.get_close_matches(doc_id, doc_ids, 3)
    return (
        f" Did you mean {' or '.join(map(shown_id, near))}?"
        if near
        else " Ids are paths relative to the corpus folder."
    )
