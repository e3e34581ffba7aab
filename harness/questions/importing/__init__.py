"""Questions that somebody has already, in whatever file, on their way into the golden set.

A row is read (each format by its own reader) and becomes a question with evidence as given. The evidence is
looked for in the documents, and the question is added, merged with the same one that is there, or refused
with a reason. Promise: every row that was given comes out in the set or in the list of those refused, as it
stood.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import StoreError
from harness.files.atomic import writing
from harness.records import Evidence, Source
from harness.text.opening import plain_name
from harness.text.spans import squeezed

REASON = "rejected_because"  # column or key beside a refused row; ignored when the row is read again
_OURS = re.compile(r"\.rejected(-\d+)?$")


class GivenRow(NamedTuple):
    """One row of a file: its number, its place in words (``line 7``), and its content.

    ``given`` is an object of JSON, the cells of a table (a list of texts), or a text that can't be read as
    either.
    """

    number: int
    where: str
    given: Any


class GivenQuestion(NamedTuple):
    """A question as it was given, in one row or several, its evidence not yet looked up in any document.

    ``question_id`` is empty where none was given. ``evidence``: spans, quotes and documents. ``positions``:
    gold ids given as numbers. ``chunks``: texts cut from documents; their copies count as well. ``source``:
    None if not given.
    """

    rows: tuple[GivenRow, ...]
    question_id: str
    text: str
    evidence: tuple[Evidence, ...]
    positions: tuple[int, ...]
    chunks: tuple[str, ...]
    source: Source | None
    provenance: Mapping[str, Any]


class Refused(NamedTuple):
    """A row that can't be used, and why. ``question_id`` is empty where none could be read."""

    row: GivenRow
    reason: str
    question_id: str = ""


class TableLayout(NamedTuple):
    """How refused rows are written again: a table with these columns and this delimiter."""

    columns: tuple[str, ...]
    delimiter: str


@dataclass(frozen=True)
class QuestionFile:
    """A file that was read, and as what.

    ``layout`` is None for all but tables; ``notes`` are lines for the user.
    """

    recognised: str
    rows: int
    questions: Sequence[GivenQuestion]
    refused: Sequence[Refused]
    layout: TableLayout | None = None
    notes: tuple[str, ...] = ()


def grouped(asked: Sequence[GivenQuestion]) -> list[GivenQuestion]:
    """The questions, rows with the same id and the same text as one whose evidence is all of theirs.

    Rows without an id stay apart: the text alone does not tell whether they are one question.
    """
    groups: dict[tuple[str, str] | int, list[GivenQuestion]] = {}
    for i, question in enumerate(asked):
        key = (question.question_id, squeezed(question.text)) if question.question_id else i
        groups.setdefault(key, []).append(question)
    return [_joined(group) for group in groups.values()]


def without_refused(
    asked: Sequence[GivenQuestion], refused: Sequence[Refused]
) -> tuple[list[GivenQuestion], list[Refused]]:
    """The questions of which no row was refused, and the refused rows with all others of their questions.

    Half of a question's evidence would make it another question.
    """
    broken = {row.question_id: row for row in reversed(refused) if row.question_id}
    whole = [question for question in asked if question.question_id not in broken]
    others = [
        Refused(
            row,
            f"belongs to question {question.question_id}, "
            f"whose {broken[question.question_id].row.where} can't be used.",
        )
        for question in asked
        if question.question_id in broken
        for row in question.rows
    ]
    return whole, sorted([*refused, *others], key=lambda found: found.row.number)


def _joined(group: Sequence[GivenQuestion]) -> GivenQuestion:
    first = group[0]
    if len(group) == 1:
        return first
    return first._replace(
        rows=tuple(row for question in group for row in question.rows),
        evidence=tuple(dict.fromkeys(place for question in group for place in question.evidence)),
        positions=tuple(dict.fromkeys(position for question in group for position in question.positions)),
        chunks=tuple(dict.fromkeys(chunk for question in group for chunk in question.chunks)),
        source=next((question.source for question in group if question.source), None),
        provenance=_all_of([question.provenance for question in group]),
    )


def _all_of(provenances: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first row's values, and under ``also`` the values of others that differ."""
    known: dict[str, Any] = dict(provenances[0])
    others = []
    for provenance in provenances[1:]:
        other = {key: value for key, value in provenance.items() if known.setdefault(key, value) != value}
        if other and other not in others:
            others.append(other)
    return known | ({"also": others} if others else {})


def write_rejected(
    refused: Sequence[Refused], layout: TableLayout | None, given: Path, target: Path | None = None
) -> Path:
    """Writes the rows to ``target``, or beside the ``given`` file, and returns the path.

    ``questions.csv`` gives ``questions.rejected.csv``. An existing file with other content may have been
    corrected by hand: it stays, and the next free name is taken (``questions.rejected-2.csv``).
    """
    # The mark tells spreadsheets that it is UTF-8.
    text = _as_table(refused, layout) if layout else _as_lines(refused)
    data = text.encode("utf-8-sig" if layout else "utf-8", "backslashreplace")
    path = target or _free(plain_name(given), data, is_table=layout is not None)
    try:
        with writing(path) as file:
            file.write(data)
    except StoreError as error:
        raise StoreError(
            f"The usable questions are in the set, but the refused rows could not be saved: {error} "
            "Give another file with rejected=FILE and run the command again.",
            where=path,
        ) from error
    return path


def _free(given: Path, data: bytes, *, is_table: bool) -> Path:
    stem, suffix = _OURS.sub("", given.stem), (given.suffix or ".csv") if is_table else ".jsonl"
    for number in count(1):
        path = given.with_name(f"{stem}.rejected{f'-{number}' if number > 1 else ''}{suffix}")
        if not path.exists() or (path.is_file() and path.read_bytes() == data):
            break
    return path


def _as_table(refused: Sequence[Refused], layout: TableLayout) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=layout.delimiter, lineterminator="\n")
    width = len(layout.columns)
    writer.writerow([*layout.columns, REASON])
    for row, reason, _ in refused:
        cells = [*row.given, *[""] * (width - len(row.given))]
        # A row with too many cells is still one when it is read again, reason and all.
        writer.writerow([*cells[:width], reason, *cells[width:]])
    return buffer.getvalue()


def _as_lines(refused: Sequence[Refused]) -> str:
    items = [row.given if isinstance(row.given, dict) else {"unreadable": row.given} for row, _, _ in refused]
    return "".join(
        json.dumps({**item, REASON: reason}, ensure_ascii=False) + "\n"
        for item, (_, reason, _) in zip(items, refused, strict=True)
    )
