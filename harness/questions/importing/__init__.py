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
    """A question as it was given in one row, its evidence not yet looked up in any document.

    ``question_id`` is empty where none was given. ``evidence``: spans, quotes and documents. ``positions``:
    gold ids given as numbers. ``chunks``: texts cut from documents (as quotes without a document); their
    copies count as well. ``source``: None if not given. ``is_unquoted``: its row has a column for a quote
    that is blank, so that its evidence is a whole document.
    """

    row: GivenRow
    question_id: str
    text: str
    evidence: tuple[Evidence, ...]
    positions: tuple[int, ...]
    chunks: tuple[Evidence, ...]
    source: Source | None
    provenance: Mapping[str, Any]
    not_relevant: tuple[Evidence, ...] = ()
    is_unquoted: bool = False


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


def grouped(asked: Sequence[GivenQuestion]) -> list[list[GivenQuestion]]:
    """The rows of each question: those with the same id and text, or with the same text and no id."""
    groups: dict[tuple[str, str], list[GivenQuestion]] = {}
    for question in asked:
        groups.setdefault((question.question_id, squeezed(question.text)), []).append(question)
    return list(groups.values())


def with_one_id(groups: Sequence[Sequence[GivenQuestion]]) -> list[str]:
    """A line for each id that questions with different texts have."""
    first: dict[str, GivenQuestion] = {}
    said = []
    for question, *_ in groups:
        other = first.setdefault(question.question_id, question) if question.question_id else question
        if other is not question:
            where = f"{other.row.where} and {question.row.where}"
            said.append(f"the id {question.question_id} has two questions: in {where}")
    return said


def without_quote(asked: Sequence[GivenQuestion]) -> list[Refused]:
    """The rows whose quote is blank, refused."""
    reason = "the quote is blank; give one, or take whole documents for such rows with quotes=optional."
    return [Refused(question.row, reason, question.question_id) for question in asked if question.is_unquoted]


def without_refused(
    asked: Sequence[GivenQuestion], refused: Sequence[Refused]
) -> tuple[list[GivenQuestion], list[Refused]]:
    """The questions of which no row was refused, and the refused rows with all others of their questions.

    Half of a question's evidence would make it another question.
    """
    broken = {row.question_id: row for row in reversed(refused) if row.question_id}
    numbers = {row.row.number for row in refused}
    whole = [question for question in asked if question.question_id not in broken]
    others = [
        Refused(
            question.row,
            f"belongs to question {question.question_id}, "
            f"whose {broken[question.question_id].row.where} can't be used.",
        )
        for question in asked
        if question.question_id in broken and question.row.number not in numbers
    ]
    return (
        [question for question in whole if question.row.number not in numbers],
        sorted([*refused, *others], key=lambda found: found.row.number),
    )


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
