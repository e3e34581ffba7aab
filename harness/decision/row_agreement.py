"""How much two rankings agree on the rows that come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from harness.cell.pipeline import Result
from harness.metrics.operating_point import OperatingPoint
from harness.metrics.reading import rows_back, tokens_read
from harness.records import Chunks, Kind

# A row as it is compared: its document's id, and its span without white space at its ends (documents: the id
# alone).
ComparedRow: TypeAlias = tuple[str, int, int] | tuple[str]


class Alike(NamedTuple):
    """The first rows of one question: equal in order, as sets, by document; share of common ``rows``."""

    in_order: bool
    as_sets: bool
    documents: bool
    shared: float
    rows: int


def agree(recorded: Sequence[ComparedRow], live: Sequence[ComparedRow], k: int) -> Alike:
    """How far two lists of the first ``k`` rows of a question agree."""
    shared = len(set(recorded) & set(live))
    return Alike(
        in_order=recorded == live,
        as_sets=set(recorded) == set(live),
        documents=[row[0] for row in recorded] == [row[0] for row in live],
        # Equal lists of fewer than k rows agree fully.
        shared=1.0 if recorded == live else shared / k,
        rows=k,
    )


def counts_of(result: Result, kind: Kind, point: OperatingPoint) -> list[int]:
    """How many rows of each question come back; ``point`` has a k where ``kind`` is "document"."""
    rows = result.rankings[kind].rows
    counts: list[int] = rows_back(
        point, tokens_read(result.chunks, rows) if kind == "span" else rows
    ).tolist()
    return counts


def rows_of(result: Result, kind: Kind, counts: Sequence[int]) -> list[list[ComparedRow]]:
    """The first rows of each question, of each as many as ``counts`` says."""
    known: dict[int, ComparedRow] = {}
    rankings = []
    for count, ranked in zip(counts, result.rankings[kind].rows.tolist(), strict=True):
        rows = [row for row in ranked[:count] if row >= 0]
        known |= {row: _row(result.chunks, row, kind) for row in rows if row not in known}
        rankings.append([known[row] for row in rows])
    return rankings


def _row(chunks: Chunks, row: int, kind: Kind) -> ComparedRow:
    if kind == "document":
        return (chunks.documents[row].doc_id,)
    document = chunks.documents[chunks.doc[row]]
    start, end = int(chunks.start[row]), int(chunks.end[row])
    text = document.text[start:end]
    return document.doc_id, start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
