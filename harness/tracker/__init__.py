"""Finished values, recorded in a place where they can be looked at side by side.

Promises: a tracker is given finished values and calls nobody; every cell's files are on disk before it is
called; a failed cell is recorded as failed, with its message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class SweepRecord:
    """What is known before the first cell runs; also written to ``sweep.json``.

    - ``axes``: each swept setting with its values, in the order of the command line.
    - ``primary``: the metric that decides.
    - ``params``: settings of the sweep's run (corpus, golden set, cells, ...).
    - ``dataset``: ``name``, ``digest`` and ``source`` of the golden set.
    - ``provenance``: what ran: ``version`` of the program and, where there is one, ``git_commit`` of the
      user's folder with ``git_dirty`` (``true`` or ``false``).
    """

    name: str
    folder: Path
    axes: Mapping[str, Sequence[str]]
    primary: str
    cells: int
    params: Mapping[str, str] = field(default_factory=dict)
    dataset: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CellRecord:
    """One finished or failed cell.

    - ``folder`` holds ``result.json``, ``rankings.npz``, ``questions.parquet`` and ``config.yaml``.
    - ``metrics``: flat names, full precision, the primary metric first.
    - ``curves``: name to ``{k: value}``.
    - ``color``: ``#rrggbb``.
    - ``note``: Markdown for the run's page.
    - ``error``: the message of a failed cell, else None.
    - ``provenance``: as in ``SweepRecord``.
    """

    name: str
    folder: Path
    params: Mapping[str, str]
    metrics: Mapping[str, float] = field(default_factory=dict)
    curves: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    color: str | None = None
    note: str = ""
    error: str | None = None
    started_ms: int | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CellVerdict:
    """The verdict on one cell in a word or two, and the limits of its deciding metric's interval."""

    run_id: str
    verdict: str
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SweepSummary:
    """What is recorded at the end of a sweep, on its own run and (``verdicts``) on those of its cells.

    - ``note``: Markdown for the sweep's page.
    - ``files``: artifacts such as report.html and leaderboard.md.
    - ``columns``: params, metrics and tags that the saved view shows, such as ``params.model`` or
      ``metrics.mrr``.
    - ``cost``: the cost metric of the scatter plot.
    - ``failed``: number of failed cells.
    """

    note: str
    files: Sequence[Path]
    columns: Sequence[str]
    cost: str
    failed: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    verdicts: Sequence[CellVerdict] = ()


@dataclass(frozen=True)
class FoundSweep:
    """A sweep on record.

    ``folder`` is where its files were written, maybe on another machine. ``uri`` holds no password.
    """

    name: str
    run_id: str
    uri: str
    experiment_id: str
    folder: Path


class Tracker(Protocol):
    """A place for finished values. What other processes need is in the handle (JSON values only)."""

    def check(self) -> str:
        """Says where finished values go, after trying it. Raises ``StoreError`` as ``open_sweep`` would."""

    def open_sweep(self, sweep: SweepRecord) -> dict[str, Any]:
        """Creates the store if need be (safe against other processes) and the sweep's run; gives the handle.

        Raises ``StoreError`` within seconds when the store or server can't be reached or written.
        """

    def record_cell(self, handle: Mapping[str, Any], cell: CellRecord) -> str:
        """Records one cell of the sweep; gives its run id."""

    def close_sweep(self, handle: Mapping[str, Any], summary: SweepSummary) -> Sequence[str]:
        """Finishes the sweep's run; gives lines to print: how to look at the sweep (command and links)."""

    def abort_sweep(self, handle: Mapping[str, Any], message: str) -> None:
        """Marks the sweep's run as failed, so that it never stays RUNNING."""

    def find(self, word: str) -> FoundSweep | None:
        """The finished sweep that ``word`` names; None for a tracker that records nothing.

        ``word`` is ``latest``, the first six or more characters of the id of a sweep or of one of its cells,
        or a sweep's name. Raises ``SettingError`` for a word that names none or several, ``StoreError`` when
        there is no sweep, or only one that still runs.
        """

    def fetch(self, found: FoundSweep, place: Path) -> None:
        """Copies the files of the sweep to ``place``, laid out as in its own folder, unless they are there.

        A cell whose files are incomplete gets a ``failure.json``. Raises ``StoreError`` when the sweep's own
        files are missing.
        """
