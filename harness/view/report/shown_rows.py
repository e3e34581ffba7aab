"""Which rows of which rankings the report shows, as spans that all cells share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from harness.records import IntArray
from harness.results.finished import FinishedCell, FinishedSweep


class Shown(NamedTuple):
    """``doc_ids``: every document that is named. ``spans``: int64 (spans, 3), distinct ``(doc, start, end)`` in order.

    ``rows``: int64 (cells, questions, rows + 1) into ``spans``, -1 where nothing came back; the last is the first relevant row where it lies
    deeper than the others. Cells whose rankings are not at hand have only -1.
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
    return (
        [str(question_id) for question_id in sweep.cells[0].questions["question_id"]] if sweep.cells else []
    )


def first_ranks(cell: FinishedCell, ids: Sequence[str]) -> IntArray:
    """int64 (questions,): the rank of the first relevant row, 0 where there is none or the cell was not asked."""
    columns = cell.questions
    of_id = dict(zip(columns["question_id"].tolist(), columns["first_rank"].tolist(), strict=True))
    ranks = np.array([of_id.get(question_id, np.nan) for question_id in ids], np.float64)
    return np.where(np.isfinite(ranks), ranks, 0).astype(np.int64)


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
