"""Questions that somebody has already, in whatever file, on their way into the golden set.

The way of a row: it is read (one module for each format), becomes a question as it was asked with what was given as evidence, the
evidence is looked for in the documents, and the question is added, merged with the one that is there already, or refused with a reason.
Promise: every row that was given comes out in the set or in the list of those refused, as it stood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.records import Evidence, Source

REASON = "rejected_because"  # the column, or key, that is written beside a refused row and passed over when it is read again


class Row(NamedTuple):
    """One row of a file: its place in the order of the file, where it stands in words (``line 7``), and what stands there.

    ``given`` is an object of JSON, the cells of a table (a list of texts), or a text that can't be read as either.
    """

    number: int
    where: str
    given: Any


class Asked(NamedTuple):
    """A question as it was given, in one row or several, its evidence not yet looked up in any document.

    ``question_id`` is empty where none was given. ``evidence``: spans, quotes and documents. ``positions``: gold ids given as numbers.
    ``chunks``: texts cut from documents, their copies as good as they. ``source`` is None where the row does not say.
    """

    rows: tuple[Row, ...]
    question_id: str
    text: str
    evidence: tuple[Evidence, ...]
    positions: tuple[int, ...]
    chunks: tuple[str, ...]
    source: Source | None
    provenance: Mapping[str, Any]


class Refused(NamedTuple):
    """A row that can't be used, and why. ``question_id`` is empty where none could be read."""

    row: Row
    reason: str
    question_id: str = ""


class Layout(NamedTuple):
    """How refused rows are written again: a table with these columns and this delimiter."""

    columns: tuple[str, ...]
    delimiter: str


@dataclass(frozen=True)
class Given:
    """A file that was read. ``recognised`` says as what; ``layout`` is None for all but tables; ``notes`` are lines for the user."""

    recognised: str
    rows: int
    asked: Sequence[Asked]
    refused: Sequence[Refused]
    layout: Layout | None = None
    notes: tuple[str, ...] = ()
