"""Finished values into a place where they can be looked at side by side.

Promises: the tracker is handed finished values and calls nobody; every cell's files are on disk before it is
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

    ``axes``: swept setting to its values, in the order of the command line. ``primary``: the metric that decides.
    ``params`` go onto the parent run (corpus, golden set, cells, ...). ``dataset``: name, digest and source of the golden set.
    """

    name: str
    folder: Path
    axes: Mapping[str, Sequence[str]]
    primary: str
    cells: int
    params: Mapping[str, str] = field(default_factory=dict)
    dataset: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CellRecord:
    """One finished or failed cell.

    ``metrics``: flat names, full precision, the primary first. ``curves``: name to ``{k: value}``. ``color``: ``#rrggbb``.
    ``folder`` holds ``result.json``, ``rankings.npz``, ``questions.parquet`` and ``config.yaml``. ``note``: Markdown for the
    run's page. ``error``: the message of a failed cell, else None.
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


@dataclass(frozen=True)
class Judged:
    """What is noted on one cell's run: its verdict in a word or two, and limits of its deciding metric by flat name."""

    run_id: str
    verdict: str
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SweepSummary:
    """What the end of a sweep puts onto the parent run, and the verdict (``judged``) onto its cells.

    ``note``: Markdown. ``files``: artifacts (figures, leaderboard.md). ``columns``: params and metrics that the saved view
    shows, as ``params.model`` or ``metrics.mrr``. ``charts``: cost metric for the scatter. ``failed``: number of failed cells.
    """

    note: str
    files: Sequence[Path]
    columns: Sequence[str]
    cost: str
    failed: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    judged: Sequence[Judged] = ()


@dataclass(frozen=True)
class Found:
    """A sweep on record. ``folder`` is where its files were written, maybe on another machine. ``uri`` holds no password."""

    name: str
    run_id: str
    uri: str
    experiment_id: str
    folder: Path


class Tracker(Protocol):
    """A place for finished values. All state that other processes need goes through the handle (JSON values only)."""

    def check(self) -> str:
        """Says where finished values go, having made sure of it. Raises ``StoreError`` as ``open_sweep`` would."""

    def open_sweep(self, sweep: SweepRecord) -> dict[str, Any]:
        """Creates the store if need be (safe against other processes) and the parent; gives the handle.

        Raises ``StoreError`` within seconds when the store or server can't be reached or written.
        """

    def record_cell(self, handle: Mapping[str, Any], cell: CellRecord) -> str:
        """Records one cell under the parent; gives its run id."""

    def close_sweep(
        self, handle: Mapping[str, Any], sweep: SweepRecord, summary: SweepSummary
    ) -> Sequence[str]:
        """Finishes the parent; gives lines to print: how to look at the sweep (command and links)."""

    def abort_sweep(self, handle: Mapping[str, Any], message: str) -> None:
        """Marks the parent as failed or killed, so that it never stays RUNNING."""

    def find(self, word: str) -> Found | None:
        """The sweep that has ended and that ``word`` means; None where nothing is ever recorded.

        ``latest``, the first six or more characters of the id of a sweep or of one of its cells, or a sweep's name. Raises ``SettingError`` for
        a word that means none or several, ``StoreError`` when there is no sweep, or only one that still runs.
        """

    def fetch(self, found: Found, place: Path) -> None:
        """Copies the files of the sweep to the folder ``place``, laid out as in its own folder; does nothing when they are there.

        A cell whose files are incomplete gets a ``failure.json``. Raises ``StoreError`` when the sweep's own files are gone.
        """
