"""Refused rows in a file of their own, in the format in which they came, each with its reason: to be corrected and added again."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.errors import StoreError
from harness.files.atomic import replacing
from harness.questions.importing import REASON, Layout, Refused

_OURS = re.compile(r"\.rejected(-\d+)?$")


def write_rejected(
    refused: Sequence[Refused], layout: Layout | None, given: Path, target: Path | None = None
) -> Path:
    """Writes the rows to ``target``, or beside the ``given`` file, and says where.

    ``questions.csv`` gives ``questions.rejected.csv``. A file that is there with other content may have been corrected by hand: it is kept,
    and the next free name is taken (``questions.rejected-2.csv``).
    """
    text = "".join(_table(refused, layout) if layout else _lines(refused))
    # The mark tells spreadsheets that it is UTF-8.
    data = text.encode("utf-8-sig" if layout else "utf-8", "backslashreplace")
    path = target or _free(given, (given.suffix or ".csv") if layout else ".jsonl", data)
    try:
        with replacing(path) as file:
            file.write(data)
    except OSError as error:
        raise StoreError(
            f"The questions that can be used are in the set. {path}, for the others, can't be written: {error.strerror}. "
            "Choose another place with rejected=FILE and run the command again.",
            where=path,
        ) from error
    return path


def _free(given: Path, suffix: str, data: bytes) -> Path:
    stem = _OURS.sub("", given.stem)
    number = 1
    while True:
        name = f"{stem}.rejected{f'-{number}' if number > 1 else ''}{suffix}"
        path = given.with_name(name)
        if not path.exists() or (path.is_file() and path.read_bytes() == data):
            return path
        number += 1


def _table(refused: Iterable[Refused], layout: Layout) -> Iterable[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=layout.delimiter, lineterminator="\n")
    width = len(layout.columns)
    writer.writerow([*layout.columns, REASON])
    for row, reason, _ in refused:
        cells = list(row.given)
        cells += [""] * (width - len(cells))
        # A row with too many cells is still one when it is read again, reason and all.
        writer.writerow([*cells[:width], reason, *cells[width:]])
    return [buffer.getvalue()]


def _lines(refused: Iterable[Refused]) -> Iterable[str]:
    for row, reason, _ in refused:
        item: dict[str, Any] = row.given if isinstance(row.given, dict) else {"unreadable": row.given}
        yield json.dumps({**item, REASON: reason}, ensure_ascii=False) + "\n"
