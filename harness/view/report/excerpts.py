"""Which rows of rankings the report shows, and the stretches of documents that they and the evidence need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from harness.records import IntArray
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.snippets import merged

# Questions listed for readers without JavaScript: those that most configurations miss.
_HARDEST = 40


class Shown(NamedTuple):
    """The rows of all cells as places in one list of spans.

    ``doc_ids``: every document that is named. ``spans``: int64 (spans, 3), distinct ``(doc, start, end)``
    in order.

    ``rows``: int64 (cells, questions, rows + 1) into ``spans``, -1 where nothing came back; the last is the
    first relevant row where it lies deeper than the others. Cells whose rankings are not at hand have only
    -1.
    """

    doc_ids: tuple[str, ...]
    spans: IntArray
    rows: IntArray


def shown_rows(sweep: FinishedSweep, rows: int) -> Shown:
    """The first ``rows`` rows of every question in every cell, and its first relevant row."""
    ids = question_ids(sweep)
    doc_ids = {doc_id: i for i, doc_id in enumerate(_documents(sweep))}
    found = np.full((len(sweep.cells), len(ids), rows + 1, 3), -1, np.int64)
    places = {question_id: i for i, question_id in enumerate(ids)}
    for i, cell in enumerate(sweep.cells):
        _fill(found[i], cell, places, doc_ids, rows)
    flat = found.reshape(-1, 3)
    there = flat[:, 0] >= 0
    spans, inverse = np.unique(flat[there], axis=0, return_inverse=True)
    numbers = np.full(len(flat), -1, np.int64)
    numbers[there] = inverse.reshape(-1)
    return Shown(tuple(doc_ids), spans, numbers.reshape(found.shape[:3]))


def question_ids(sweep: FinishedSweep) -> list[str]:
    """The ids of the first cell's questions, in its order."""
    return [str(i) for i in sweep.cells[0].questions["question_id"]] if sweep.cells else []


def aligned(cell: FinishedCell, ids: Sequence[str], column: str) -> list[Any]:
    """A column's values in the order of ``ids``, None where the cell has none."""
    if column not in cell.questions:
        return [None] * len(ids)
    values = cell.questions[column].tolist()
    of_id = dict(zip(cell.questions["question_id"].tolist(), values, strict=True))
    return [of_id.get(question_id) for question_id in ids]


def first_ranks(cell: FinishedCell, ids: Sequence[str]) -> IntArray:
    """int64 (questions,): the first relevant row's rank, 0 where there is none or the cell was not asked."""
    return np.nan_to_num(np.array(aligned(cell, ids, "first_rank"), np.float64)).astype(np.int64)


def answered(sweep: FinishedSweep, ids: Sequence[str]) -> IntArray:
    """int64 (questions,): how many cells found all evidence of each question."""
    found = np.zeros(len(ids), np.int64)
    for cell in sweep.cells:
        found += [cause == "found" for cause in aligned(cell, ids, "cause")]
    return found


def hardest(sweep: FinishedSweep) -> list[tuple[str, str, int]]:
    """Id, text and number of cells that answer it, of the questions that most cells miss."""
    ids = question_ids(sweep)
    texts = aligned(sweep.cells[0], ids, "question") if sweep.cells else []
    counts = answered(sweep, ids)
    order = np.argsort(counts, kind="stable")[:_HARDEST].tolist()
    return [(ids[i], str(texts[i] or ids[i]), int(counts[i])) for i in order]


def _documents(sweep: FinishedSweep) -> list[str]:
    named = {str(place["doc_id"]) for evidence in sweep.evidence.values() for place in places_of(evidence)}
    for cell in sweep.cells:
        if (cell.folder / "rankings.npz").is_file():
            with np.load(cell.folder / "rankings.npz", allow_pickle=False) as archive:
                named |= set(archive["doc_ids"].tolist())
    return sorted(named)


def places_of(evidence: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Every place of every evidence: the evidence itself, then its alternatives."""
    places: list[Mapping[str, object]] = []
    for unit in evidence:
        others = unit.get("alternatives")
        places += [unit, *(others if isinstance(others, Sequence) else ())]
    return places


def _fill(
    found: IntArray, cell: FinishedCell, places: Mapping[str, int], doc_ids: Mapping[str, int], rows: int
) -> None:
    """Writes the cell's rows into ``found`` (questions, rows + 1, 3)."""
    file = cell.folder / "rankings.npz"
    if not file.is_file():
        return
    ranks = first_ranks(cell, list(places))
    with np.load(file, allow_pickle=False) as archive:
        numbers = np.array([doc_ids[doc_id] for doc_id in archive["doc_ids"].tolist()], np.int64)
        for kind in ("span", "document"):
            if f"{kind}_doc" not in archive:
                continue
            asked = archive[f"{kind}_question_ids"].tolist()
            known = np.array([question_id in places for question_id in asked], bool)
            at = np.array([places[question_id] for question_id in asked if question_id in places], np.int64)
            doc = archive[f"{kind}_doc"][known].astype(np.int64)
            doc = np.where(doc >= 0, numbers[doc], -1)
            columns = [doc, archive[f"{kind}_start"][known], archive[f"{kind}_end"][known]]
            spans = np.stack(columns, axis=-1)
            spans[doc < 0] = -1
            first = spans[:, :rows]
            found[at, : first.shape[1]] = first
            rank = ranks[at]
            deep = np.flatnonzero((rank > rows) & (rank <= spans.shape[1]))
            found[at[deep], rows] = spans[deep, rank[deep] - 1]


def pieces(
    texts: Mapping[str, Sequence[tuple[int, str]]], doc_ids: Sequence[str], spans: IntArray
) -> dict[int, list[tuple[int, str]]]:
    """Document's place in ``doc_ids`` to its pieces ``(start, text)`` in order, as far as ``texts`` goes.

    ``spans``: int64 (spans, 3), document's place, start and end.
    """
    found: dict[int, list[tuple[int, str]]] = {}
    for doc, start, end in merged(spans).tolist():
        for first, text in texts.get(doc_ids[doc], ()):
            low, high = max(start, first), min(end, first + len(text))
            if low < high:
                found.setdefault(doc, []).append((low, text[low - first : high - first]))
    return found
