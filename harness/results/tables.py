"""A finished sweep as tables, for files that other programs read: one row per cell, and one per cell and question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.results.finished import FinishedSweep


def table(sweep: FinishedSweep) -> Any:
    """A ``pyarrow.Table``, one row per cell, best first; failed cells come last, with their ``error``.

    Columns: ``cell``, ``run_id``, ``error``, the settings (text; an axis never goes by a metric's name), then every metric, figure of health and
    timing by its flat name (null where a cell has none), then the digests of what was measured on.
    """
    rows: list[dict[str, Any]] = []
    for cell in sweep.cells:
        content = cell.content
        figures = content["metrics"] | content["health"] | content["timing"]
        digests = {key: content[key] for key in ("corpus_digest", "golden_digest", "tokenizer_digest")}
        named = {"cell": cell.name, "run_id": cell.run_id, "error": None}
        rows.append(
            named | {key: str(value) for key, value in cell.params.items()} | _numbers(figures) | digests
        )
    rows += [{"cell": failure["name"], "run_id": "", "error": failure["error"]} for failure in sweep.failures]
    return _table(rows)


def per_question(sweep: FinishedSweep) -> Any:
    """A ``pyarrow.Table``, one row per cell and question: ``cell``, the axes, then all columns of ``questions.parquet``."""
    import pyarrow as pa

    axes = [axis.lstrip("+") for axis in sweep.axes]
    tables = []
    for cell in sweep.cells:
        rows = len(cell.questions["question_id"])
        named = {
            "cell": cell.name,
            **{axis: cell.params[axis] for axis in axes if axis not in cell.questions},
        }
        columns = {name: pa.array([value] * rows, pa.string()) for name, value in named.items()}
        for name, values in cell.questions.items():
            if values.dtype.kind == "f":
                columns[name] = pa.array(values, from_pandas=True)
            else:
                columns[name] = pa.array(values.astype(object), pa.string())
        tables.append(pa.table(columns))
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def _numbers(figures: dict[str, float]) -> dict[str, float | None]:
    """Undefined values as nulls: a csv file has no nan that every program reads."""
    return {name: float(value) if np.isfinite(value) else None for name, value in figures.items()}


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})
