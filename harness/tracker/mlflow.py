"""Sweeps in MLflow: one parent run per sweep, one child per cell, a saved view to look at them side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import SettingError
from harness.tracker import CellRecord, Found, SweepRecord, SweepSummary
from harness.tracker.mlflow_abandoned import PROCESS_TAG, close_abandoned, this_process
from harness.tracker.mlflow_address import known_again, shown, store_uri
from harness.tracker.mlflow_artifacts import cell_files, log_files, ready
from harness.tracker.mlflow_fetch import fetch
from harness.tracker.mlflow_find import CLOSED_TAG, find
from harness.tracker.mlflow_links import how_to_look, linked
from harness.tracker.mlflow_names import MetricNames, shown_k
from harness.tracker.mlflow_payload import (
    cell_tags,
    curves_of,
    log,
    log_golden,
    metrics,
    params,
    sweep_params,
    sweep_tags,
    tags,
)
from harness.tracker.mlflow_pick import record_verdicts
from harness.tracker.mlflow_runs import cells_of, close_left_open, closed_on_error, started
from harness.tracker.mlflow_store import OPENING, connect, connected, experiment_id, store_errors
from harness.tracker.mlflow_view import save_view


@dataclass(frozen=True)
class MlflowTracker:
    """Records a sweep in MLflow. Opens no run of MLflow's own global state, so it may be used beside the user's code.

    ``uri``: address of the store; None takes ``MLFLOW_TRACKING_URI`` or else SQLite in ``folder``. ``experiment``: its
    name. ``texts``: whether files that may hold text of documents or questions become artifacts.
    """

    uri: str | None = None
    folder: str | Path = "mlruns"
    experiment: str = "retrieval"
    texts: bool = True

    def __post_init__(self) -> None:
        if not self.experiment.strip():
            raise SettingError(
                "tracker.experiment is empty; it is the name under which MLflow lists the sweeps. Give one, or leave it out.",
                key="tracker.experiment",
            )

    def check(self) -> str:
        """Connects, which creates a SQLite store that is not there yet, and says where it is."""
        uri = store_uri(self.uri, Path(self.folder))
        connect(uri)
        return f"{shown(uri)} can be used; experiment '{self.experiment}'"

    def open_sweep(self, sweep: SweepRecord) -> dict[str, Any]:
        """Creates store and experiment if need be, and the parent run with its settings.

        The handle holds addresses and ids. Raises ``StoreError`` within seconds when the store can't be used.
        """
        uri = store_uri(self.uri, Path(self.folder))
        client = connect(uri)
        experiment = experiment_id(client, uri, self.experiment)
        marks = tags({**sweep_tags(sweep), PROCESS_TAG: this_process()}, "")
        with store_errors(uri, OPENING):
            close_abandoned(client, experiment)
            run = started(client, experiment, sweep.name, marks).info.run_id
            log(client, run, [], params(sweep_params(sweep)), [])
            log_golden(client, run, sweep.dataset)
        return {
            "tracker": "mlflow",
            "uri": shown(uri),
            "experiment": self.experiment,
            "experiment_id": experiment,
            "run_id": run,
            "primary": sweep.primary,
            "shown_k": shown_k(sweep.primary, sweep.params),
            "dataset": dict(sweep.dataset),
        }

    def record_cell(self, handle: Mapping[str, Any], cell: CellRecord) -> str:
        """Records one finished or failed cell with its files; gives its run id.

        Raises ``StoreError`` when the store can't be used; the run is then marked as failed, if it can be.
        """
        sweep = self._opened(handle)
        client = connected(sweep.uri)
        values = metrics(sweep.names.renamed(cell.metrics), curves_of(cell), _now_ms())
        with store_errors(sweep.uri), ready(cell_files(cell.folder), texts=self.texts) as files:
            marks = cell_tags(cell, sweep.dataset, sweep.run, files.left_out)
            run = started(client, sweep.experiment, cell.name, marks, cell.started_ms).info
            with closed_on_error(client, run.run_id):
                log(client, run.run_id, values, params(cell.params), [])
                log_golden(client, run.run_id, sweep.dataset)
                log_files(sweep.uri, run.artifact_uri, files.paths)
            client.set_terminated(run.run_id, "FINISHED" if cell.error is None else "FAILED")
        return str(run.run_id)

    def close_sweep(
        self,
        handle: Mapping[str, Any],
        sweep: SweepRecord,  # noqa: ARG002 - all that is needed of it is in the handle
        summary: SweepSummary,
    ) -> Sequence[str]:
        """Finishes the parent (as failed when a cell failed), saves the view, gives lines to print."""
        opened = self._opened(handle)
        client, run = connected(opened.uri), opened.run
        with store_errors(opened.uri), closed_on_error(client, run):
            record_verdicts(opened.uri, summary.judged, opened.names.primary, opened.names.k)
            measured = metrics(opened.names.renamed(summary.metrics), {}, _now_ms())
            with ready(summary.files, texts=self.texts) as files:
                log_files(opened.uri, client.get_run(run).info.artifact_uri, files.paths)
            cells = cells_of(client, opened.experiment, run)
            saved = save_view(client, opened.experiment, run, opened.names, summary, cells)
            note = linked(summary.note, opened.experiment, run) if saved else summary.note
            log(client, run, measured, [], tags({CLOSED_TAG: "true"}, note))
            close_left_open(client, cells)
            client.set_terminated(run, "FAILED" if summary.failed else "FINISHED")
        order = None if saved else opened.names.of(opened.names.primary)
        return how_to_look(opened.uri, Path(self.folder), opened.experiment, run, order)

    def abort_sweep(self, handle: Mapping[str, Any], message: str) -> None:
        """Marks the parent as failed, with the message as its description, and cells half written as killed."""
        sweep = self._opened(handle)
        client = connected(sweep.uri)
        with store_errors(sweep.uri):
            client.set_terminated(sweep.run, "FAILED")
            log(client, sweep.run, [], [], tags({}, f"**This sweep was not finished.** {message}"))
            close_left_open(client, cells_of(client, sweep.experiment, sweep.run))

    def find(self, word: str) -> Found | None:
        """The sweep that has ended and that ``word`` means; ``latest`` and names mean those of this experiment."""
        uri = store_uri(self.uri, Path(self.folder))
        return find(uri, self.experiment, word)

    def fetch(self, found: Found, place: Path) -> None:
        """Copies the artifacts of the sweep and its cells to ``place``."""
        uri = known_again(found.uri, self.uri, Path(self.folder))
        fetch(uri, found, place)

    def _opened(self, handle: Mapping[str, Any]) -> _Sweep:
        names = MetricNames(handle["primary"], handle["shown_k"])
        uri = known_again(handle["uri"], self.uri, Path(self.folder))
        return _Sweep(uri, handle["experiment_id"], handle["run_id"], names, handle["dataset"])


class _Sweep(NamedTuple):
    """A handle, read."""

    uri: str
    experiment: str
    run: str
    names: MetricNames
    dataset: Mapping[str, str]


def _now_ms() -> int:
    return int(time.time() * 1000)
