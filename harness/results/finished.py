"""A finished sweep, as far as it was tracked: all that verdict, pick, compare, gate and report read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class FinishedCell:
    """One cell that was scored.

    ``folder`` holds its files (``result.json``, ``rankings.npz``, ``questions.parquet``, ``config.yaml``), downloaded if need be.
    ``content`` is ``result.json``. ``questions`` are the columns of ``questions.parquet``, rows sorted by question id. ``color``: ``#rrggbb``.
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
    """A sweep with the cells that were scored, best first, and those that were not.

    ``primary`` is the metric that was to decide, ``k`` the cut-off of the main columns. ``failures``: name and error each.
    ``folder`` is where files made from it go; ``uri`` and ``experiment_id`` say where ``run_id`` is tracked. ``texts`` are the stretches of
    documents that reports show: doc_id to ``(start, text)`` pieces in order; empty where text was not tracked. ``evidence``:
    question id to its evidence as in a golden set's line.
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
