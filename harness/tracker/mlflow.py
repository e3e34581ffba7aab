"""Sweeps in MLflow: a parent run per sweep, a child per cell, and a saved view that compares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import SettingError
from harness.tracker import CellRecord, FoundSweep, SweepRecord, SweepSummary, mlflow_find
from harness.tracker.mlflow_address import shown, store_uri, with_password
from harness.tracker.mlflow_artifacts import cell_files, log_files, ready
from harness.tracker.mlflow_names import MetricNames, shown_k
from harness.tracker.mlflow_payload import (
    CLOSED_TAG,
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
from harness.tracker.mlflow_runs import (
    PROCESS_TAG,
    cells_of,
    close_abandoned,
    close_left_open,
    closed_on_error,
    record_verdicts,
    started,
    this_process,
)
from harness.tracker.mlflow_store import OPENING, connect, connected, experiment_id, store_errors
from harness.tracker.mlflow_ui import how_to_look
from harness.tracker.mlflow_view import save_view, with_links


@dataclass(frozen=True)
class MlflowTracker:
    """Records a sweep in MLflow. Leaves MLflow's active run alone, so it may be used beside the user's code.

    ``uri``: address of the store; None takes ``MLFLOW_TRACKING_URI`` or else SQLite in ``folder``.
    ``experiment``: its name. ``texts``: whether files that may hold text of documents or questions become
    artifacts.
    """

    uri: str | None = None
    folder: str | Path = "mlruns"
    experiment: str = "retrieval"
    texts: bool = True

    def __post_init__(self) -> None:
        if not self.experiment.strip():
            raise SettingError(
                "tracker.experiment is empty; it is the name under which MLflow lists the sweeps. Give a "
                "name, or leave the setting out.",
                key="tracker.experiment",
            )

    def check(self) -> str:
        """Connects, which creates a missing SQLite store, and says where it is."""
        uri = store_uri(self.uri, Path(self.folder))
        connect(uri)
        return f"{shown(uri)} can be used; experiment '{self.experiment}'"

    def open_sweep(self, sweep: SweepRecord) -> dict[str, Any]:
        """Creates store and experiment if need be, and the sweep's run with its settings.

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
        values = metrics(sweep.names.renamed(cell.metrics), curves_of(cell))
        with store_errors(sweep.uri), ready(cell_files(cell.folder), texts=self.texts) as files:
            marks = cell_tags(cell, sweep.dataset, sweep.run)
            run = started(client, sweep.experiment, cell.name, marks, cell.started_ms).info
            with closed_on_error(client, run.run_id):
                log(client, run.run_id, values, params(cell.params), [])
                log_golden(client, run.run_id, sweep.dataset)
                log_files(sweep.uri, run.artifact_uri, files)
            client.set_terminated(run.run_id, "FINISHED" if cell.error is None else "FAILED")
        return str(run.run_id)

    def close_sweep(self, handle: Mapping[str, Any], summary: SweepSummary) -> Sequence[str]:
        """Finishes the sweep's run (as failed when a cell failed), saves the view, gives lines to print."""
        opened = self._opened(handle)
        client, run = connected(opened.uri), opened.run
        with store_errors(opened.uri), closed_on_error(client, run):
            record_verdicts(opened.uri, summary.verdicts, opened.names.primary, opened.names.k)
            measured = metrics(opened.names.renamed(summary.metrics))
            with ready(summary.files, texts=self.texts) as files:
                log_files(opened.uri, client.get_run(run).info.artifact_uri, files)
            cells = cells_of(client, opened.experiment, run)
            save_view(client, opened.experiment, run, opened.names, summary, cells)
            note = with_links(summary.note, opened.experiment, run)
            log(client, run, measured, [], tags({CLOSED_TAG: "true"}, note))
            close_left_open(client, cells)
            client.set_terminated(run, "FAILED" if summary.failed else "FINISHED")
        return how_to_look(opened.uri, Path(self.folder), opened.experiment, run)

    def abort_sweep(self, handle: Mapping[str, Any], message: str) -> None:
        """Marks the sweep's run as failed, described by the message, and unfinished cells as killed."""
        sweep = self._opened(handle)
        client = connected(sweep.uri)
        with store_errors(sweep.uri):
            client.set_terminated(sweep.run, "FAILED")
            log(client, sweep.run, [], [], tags({}, f"**This sweep was not finished.** {message}"))
            close_left_open(client, cells_of(client, sweep.experiment, sweep.run))

    def find(self, word: str) -> FoundSweep | None:
        """The finished sweep that ``word`` names; ``latest`` and names refer to this experiment."""
        uri = store_uri(self.uri, Path(self.folder))
        return mlflow_find.find(uri, self.experiment, word)

    def fetch(self, found: FoundSweep, place: Path) -> None:
        """Copies the artifacts of the sweep and its cells to ``place``."""
        uri = with_password(found.uri, self.uri, Path(self.folder))
        mlflow_find.fetch(uri, found, place)

    def _opened(self, handle: Mapping[str, Any]) -> OpenSweep:
        names = MetricNames(handle["primary"], handle["shown_k"])
        uri = with_password(handle["uri"], self.uri, Path(self.folder))
        return OpenSweep(uri, handle["experiment_id"], handle["run_id"], names, handle["dataset"])


class OpenSweep(NamedTuple):
    """The content of a handle."""

    uri: str
    experiment: str
    run: str
    names: MetricNames
    dataset: Mapping[str, str]
