"""A finished sweep as it was tracked, and the same as tables for other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import StoreError


@dataclass(frozen=True)
class FinishedCell:
    """One cell that was scored.

    ``folder``: where ``result.json``, ``rankings.npz``, ``questions.parquet`` and ``config.yaml`` are.
    ``content``: ``result.json``. ``questions``: the columns of ``questions.parquet``, sorted by question id.
    ``color``: ``#rrggbb``.
    """

    name: str
    run_id: str
    folder: Path
    content: Mapping[str, Any]
    questions: Mapping[str, npt.NDArray[Any]]
    color: str | None = None

    @property
    def params(self) -> Mapping[str, str]:
        """The cell's settings as they are shown."""
        params: Mapping[str, str] = self.content["params"]
        return params

    def metric(self, name: str) -> float:
        """A mean, or a figure of the cell's health or timing, by flat name; nan where there is none."""
        found = self.content["metrics"] | self.content["health"] | self.content["timing"]
        return float(found.get(name, np.nan))


@dataclass(frozen=True)
class FinishedSweep:
    """A sweep with the cells that were scored, best first, and those that failed.

    - ``run_id``, ``uri``, ``experiment_id``: where it is tracked.
    - ``folder``: where its files are.
    - ``primary``: the metric that decides; ``k``: the cut-off of the main columns.
    - ``failures``: name and error of each failed cell.
    - ``texts``: doc_id to ``(start, text)`` snippets in order; empty where text was not tracked.
    - ``evidence``: question id to its evidence as in a golden set's line.
    """

    name: str
    run_id: str
    uri: str
    experiment_id: str
    folder: Path
    primary: str
    k: int
    axes: Mapping[str, Sequence[str]]
    cells: Sequence[FinishedCell]
    failures: Sequence[Mapping[str, str]]
    texts: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)
    evidence: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)

    def cell(self, name: str) -> FinishedCell:
        """The cell of that name (or whose run id begins so). Raises ``KeyError``."""
        for cell in self.cells:
            if cell.name == name or (len(name) >= 6 and cell.run_id.startswith(name)):
                return cell
        raise KeyError(name)

    def quoted_evidence(self, question_id: str) -> list[Mapping[str, Any]]:
        """The evidence of a question; a whole document is quoted by its beginning."""
        found = []
        for evidence in self.evidence.get(question_id, ()):
            pieces = self.texts.get(str(evidence["doc_id"]))
            is_whole = "start" not in evidence and pieces and pieces[0][0] == 0
            found.append({**evidence, "quote": pieces[0][1]} if is_whole and pieces else evidence)
        return found


def write_tables(sweep: FinishedSweep, path: Path, kind: str) -> list[Path]:
    """Writes the table of cells to ``path`` and the questions beside it; ``kind``: csv or parquet."""
    from pyarrow import csv, parquet

    write = csv.write_csv if kind == "csv" else parquet.write_table
    other = path.with_name(f"{path.stem}-questions{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(table(sweep), path)
        write(per_question(sweep), other)
    except OSError as error:
        raise StoreError(
            f"{path} can't be written: {error}. Choose another file with output=FILE.", where=path
        ) from error
    return [path, other]


def table(sweep: FinishedSweep) -> Any:
    """A ``pyarrow.Table``, one row per cell, best first; failed cells come last, with their ``error``.

    Columns: ``cell``, ``run_id``, ``error``, the settings as text, every metric, figure of health and timing
    by its flat name (null where a cell has none), and the digests of corpus, golden set and tokenizer.
    """
    import pyarrow as pa

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
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def per_question(sweep: FinishedSweep) -> Any:
    """A ``pyarrow.Table`` per cell and question: ``cell``, axes, columns of ``questions.parquet``."""
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
    """Undefined values as nulls, because not every program reads nan in a csv file."""
    return {name: float(value) if np.isfinite(value) else None for name, value in figures.items()}
