"""Finished sweeps: what their cells hold, and how they are read from a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.files.atomic import read_json
from harness.results.cells import by_cost
from harness.verdict.power import FIRST_LOOK, Look


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

    - ``run_id``, ``uri``, ``experiment_id``: where it is tracked; ``folder``: where its files are.
    - ``primary``: the metric that decides; ``k``: the cut-off of the main columns.
    - ``failures``: name and error of each failed cell. ``look``: which look at a growing golden set it is.
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
    look: Look = FIRST_LOOK

    def cell(self, name: str) -> FinishedCell:
        """The cell of that name (or whose run id begins so). Raises ``KeyError``.

        Blanks or plain dots may stand for middle dots, and ``key=value`` for values, if only one cell fits.
        """
        exact = [c for c in self.cells if c.name == name or (len(name) >= 6 and c.run_id.startswith(name))]
        found = exact[:1] or [cell for cell in self.cells if _fits(cell, name)]
        if len(found) != 1:
            raise KeyError(name)
        return found[0]

    def quoted_evidence(self, question_id: str) -> list[Mapping[str, Any]]:
        """The evidence of a question; a whole document is quoted by its beginning."""
        found = []
        for evidence in self.evidence.get(question_id, ()):
            pieces = self.texts.get(str(evidence["doc_id"]))
            is_whole = "start" not in evidence and pieces and pieces[0][0] == 0
            found.append({**evidence, "quote": pieces[0][1]} if is_whole and pieces else evidence)
        return found


def _fits(cell: FinishedCell, name: str) -> bool:
    """Whether ``name`` is the cell's but for its dots, or names settings that it has."""
    settings = {f"{k}={value}" for key, value in cell.params.items() for k in (key, key.rpartition(".")[2])}
    words = re.split(r"[\s·,]+", name.strip())
    plain, given = (" ".join(re.split(r"[\s·.,]+", text.strip())) for text in (cell.name, name))
    return plain == given or ("=" in name and {*words} <= {*settings, *cell.name.split(" · ")})


class Collected(NamedTuple):
    """Finished cells, best first; failed cells with their error; the folder of each finished cell."""

    contents: list[dict[str, Any]]
    failures: list[dict[str, str]]
    folders: dict[str, Path]


def collected(folder: Path, names: Sequence[str], primary: str, k: int) -> Collected:
    """The cells below ``folder``, best first; failures in the order of ``names``.

    Equal scores are ordered by ``by_cost``, then by name. A cell without a file counts as failed.
    """
    files = {file: _finished(file) for file in folder.glob("*/result.json")}
    contents = list(files.values())
    failures = [
        {key: str(found[key]) for key in ("name", "error")}
        for found in map(read_json, folder.glob("*/failure.json"))
    ]
    seen = {content["name"] for content in [*contents, *failures]}
    failures += [
        {"name": name, "error": "It left no result: its process ended."} for name in names if name not in seen
    ]
    failures += [
        {"name": found["name"], "error": f"scored, but not tracked: {found['error']}"}
        for found in map(read_json, folder.glob("*/untracked.json"))
    ]
    failures.sort(
        key=lambda failure: names.index(failure["name"]) if failure["name"] in names else len(names)
    )
    contents.sort(
        key=lambda content: (
            -round(content["metrics"][primary], 12),
            by_cost(content, k),
            content["name"],
        )
    )
    return Collected(contents, failures, {content["name"]: file.parent for file, content in files.items()})


def _finished(file: Path) -> dict[str, Any]:
    """A finished cell, with the seconds that tracking it took where it was tracked."""
    content = read_json(file)
    run = file.with_name("run.json")
    if run.is_file():
        content["timing"]["track_seconds"] = read_json(run)["track_seconds"]
    return content
