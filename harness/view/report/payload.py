"""Every question with its marks, rows and texts as packed JSON, for the page's list of questions.

A thousand questions in a hundred cells fit, since texts are shared by all cells that return them and the
whole is compressed (deflate, base64). Where it would still be too big, rows of the worst cells are left out
first, then texts of questions that every cell answers.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.metrics.diagnosis import CAUSES
from harness.records import IntArray
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.snippets import clipped, widened
from harness.view.formats import counted
from harness.view.report.excerpts import (
    Shown,
    aligned,
    answered,
    first_ranks,
    pieces,
    places_of,
    question_ids,
    shown_rows,
)

# MLflow shows a page of up to 5 MB; charts and tables need the rest.
MOST_BYTES = 3_800_000
MOST_ROWS = 10
# No whole document is longer.
_WHOLE = 1 << 40


class Payload(NamedTuple):
    """``packed``: base64 of raw deflate of the JSON. ``left_out``: sentences on what did not fit."""

    packed: str
    left_out: list[str]


def payload(sweep: FinishedSweep, metric: str, most: int = MOST_BYTES) -> Payload:
    """The data of the list of questions in at most ``most`` characters, whenever the marks alone fit.

    ``metric`` says how much of its evidence each question got.
    """
    ids = question_ids(sweep)
    shown = shown_rows(sweep, min(max(sweep.k, 3), MOST_ROWS))
    base = _base(sweep, metric, ids, shown)
    evidence = _evidence(sweep, ids, shown.doc_ids)
    base["evidence"] = evidence

    def made(cells: int, kept: npt.NDArray[np.bool_]) -> str:
        return _pack(base | _texts(sweep, shown, evidence, cells, kept))

    every = np.ones(len(ids), np.bool_)
    cells, packed = _fitted(len(sweep.cells), most, lambda n: made(n, every))
    if cells == len(sweep.cells):
        return Payload(packed, [])
    if cells:
        return Payload(packed, [_cells_left_out(cells, len(sweep.cells))])
    order = np.argsort(answered(sweep, ids), kind="stable")
    asked, packed = _fitted(len(ids), most, lambda n: made(1, _chosen(order, n)))
    left_out = (
        f"Texts stand beside {asked:,} of {counted(len(ids), 'question')}, "
        "those that most configurations miss, and rows only for the best configuration: "
        "with all of them this page would be too big."
    )
    return Payload(packed, [left_out])


def _cells_left_out(cells: int, total: int) -> str:
    return (
        f"What came back is shown for the best {cells} of {total} configurations: with all of them this page "
        "would be too big. Their marks, ranks and causes are complete."
    )


def _base(sweep: FinishedSweep, metric: str, ids: Sequence[str], shown: Shown) -> dict[str, Any]:
    """All but texts and rows: small even for many cells."""
    first = sweep.cells[0].questions if sweep.cells else {}
    texts = first["question"].tolist() if "question" in first else [None] * len(ids)
    return {
        "k": sweep.k,
        "rows": shown.rows.shape[2] - 1,
        "metric": metric,
        "cells": [cell.name for cell in sweep.cells],
        "causes": CAUSES,
        "docs": shown.doc_ids,
        "ids": ids,
        "questions": texts,
        "ranks": [first_ranks(cell, ids).tolist() for cell in sweep.cells],
        "cause": [_causes(cell, ids) for cell in sweep.cells],
        "value": [_percent(cell, ids, metric) for cell in sweep.cells],
    }


def _causes(cell: FinishedCell, ids: Sequence[str]) -> str:
    """A digit for each question: the place of its cause in ``CAUSES``; ``-`` where the cell was not asked."""
    return "".join("-" if c is None else str(CAUSES.index(c)) for c in aligned(cell, ids, "cause"))


def _percent(cell: FinishedCell, ids: Sequence[str], metric: str) -> list[int]:
    """The deciding metric of each question in hundredths, -1 where it has none."""
    values = np.array(aligned(cell, ids, metric), np.float64)
    hundredths: list[int] = np.where(np.isfinite(values), np.round(100 * values), -1).astype(int).tolist()
    return hundredths


def _evidence(
    sweep: FinishedSweep, ids: Sequence[str], doc_ids: Sequence[str]
) -> list[list[list[list[int]]]]:
    """Each question's evidence groups with their spans ``[doc, start, end]``; a document ends at -1."""
    numbers = {doc_id: i for i, doc_id in enumerate(doc_ids)}

    def place(found: Mapping[str, Any]) -> list[int]:
        start, end = found.get("start"), found.get("end")
        return [numbers[str(found["doc_id"])], int(start or 0), -1 if end is None else int(end)]

    return [[[place(p) for p in places_of([unit])] for unit in sweep.evidence.get(i, ())] for i in ids]


def _texts(
    sweep: FinishedSweep, shown: Shown, evidence: Sequence[Any], cells: int, kept: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Rows of the best ``cells`` cells, and the texts that they and the ``kept`` questions need."""
    rows = np.where(kept[None, :, None], shown.rows[:cells], -1)
    used, numbers = _renumbered(rows)
    spans = shown.spans[used]
    places = [
        (doc, start, end if end >= 0 else _WHOLE)
        for i in np.flatnonzero(kept).tolist()
        for unit in evidence[i]
        for doc, start, end in unit
    ]
    needed = np.concatenate([clipped(spans), widened(np.array(places, np.int64).reshape(-1, 3))])
    text = pieces(sweep.texts, shown.doc_ids, needed)
    columns = [spans[:, 0].tolist(), spans[:, 1].tolist(), (spans[:, 2] - spans[:, 1]).tolist()]
    return {"spans": columns, "row": [cell.reshape(-1).tolist() for cell in numbers], "text": text}


def _renumbered(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The spans that are used, in order, and ``rows`` as places in them."""
    used = np.unique(rows[rows >= 0])
    return used, np.where(rows >= 0, np.searchsorted(used, rows), -1)


def _chosen(order: IntArray, count: int) -> npt.NDArray[np.bool_]:
    chosen = np.zeros(len(order), np.bool_)
    chosen[order[:count]] = True
    return chosen


def _fitted(count: int, most: int, make: Callable[[int], str]) -> tuple[int, str]:
    """About the largest number up to ``count`` that fits into ``most`` characters, and what it makes.

    Sizes grow almost evenly above what nothing takes, so that a few tries come near enough.
    """
    packed = make(count)
    least = len(make(0)) if len(packed) > most else 0
    while count and len(packed) > most:
        share = max(0, most - least) / max(1, len(packed) - least)
        count = min(count - 1, int(share * count))
        packed = make(count)
    return count, packed


def _pack(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = squeeze.compress(text.encode("utf-8", "replace")) + squeeze.flush()
    return base64.b64encode(data).decode("ascii")
