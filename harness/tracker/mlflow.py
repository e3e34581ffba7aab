"""Sweeps in MLflow: one parent run per sweep, one child per cell, a saved view to look at them side by side."""

from __future__ import annotations

import getpass
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import SettingError
from harness.tracker import CellRecord, SweepRecord, SweepSummary
from harness.tracker.mlflow_artifacts import cell_files, log_files
from harness.tracker.mlflow_links import how_to_look, linked
from harness.tracker.mlflow_names import MetricNames, shown_k
from harness.tracker.mlflow_payload import (
    cell_tags,
    curves_of,
    golden_tags,
    log,
    log_golden,
    metrics,
    params,
    tags,
)
from harness.tracker.mlflow_store import connect, experiment_id, store_errors, store_uri
from harness.tracker.mlflow_view import save_view

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run


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
        return f"{uri} can be used; experiment '{self.experiment}'"

    def open_sweep(self, sweep: SweepRecord) -> dict[str, Any]:
        """Creates store and experiment if need be, and the parent run with its settings.

        The handle holds addresses and ids. Raises ``StoreError`` within seconds when the store can't be used.
        """
        uri = store_uri(self.uri, Path(self.folder))
        client = connect(uri)
        experiment = experiment_id(client, uri, self.experiment)
        axes = {f"axis.{name}": ", ".join(values) for name, values in sweep.axes.items()}
        settings = {
            "cells": str(sweep.cells),
            "primary": sweep.primary,
            "axes": " × ".join(sweep.axes) or "none",
        }
        marks = {"harness.kind": "sweep", "harness.folder": str(sweep.folder), **golden_tags(sweep.dataset)}
        with store_errors(uri):
            run = client.create_run(experiment, tags=_source(), run_name=sweep.name).info.run_id
            log(client, run, [], params({**settings, **axes, **sweep.params}), tags(marks, ""))
            log_golden(client, run, sweep.dataset)
        return {
            "tracker": "mlflow",
            "uri": uri,
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
        sweep = _Sweep.of(handle)
        client = connect(sweep.uri)
        values = metrics(sweep.names.renamed(cell.metrics), curves_of(cell), _now_ms())
        with store_errors(sweep.uri):
            run: str = client.create_run(
                sweep.experiment,
                start_time=cell.started_ms,
                tags=_source() | {"mlflow.parentRunId": sweep.run},
                run_name=cell.name,
            ).info.run_id
            with _closed_on_error(client, run):
                log(client, run, values, params(cell.params), cell_tags(cell, sweep.dataset))
                log_golden(client, run, sweep.dataset)
                log_files(client, run, cell_files(cell.folder), texts=self.texts)
            client.set_terminated(run, "FINISHED" if cell.error is None else "FAILED")
        return run

    def close_sweep(
        self,
        handle: Mapping[str, Any],
        sweep: SweepRecord,  # noqa: ARG002 - all that is needed of it is in the handle
        summary: SweepSummary,
    ) -> Sequence[str]:
        """Finishes the parent (as failed when a cell failed), saves the view, gives lines to print."""
        opened = _Sweep.of(handle)
        client, run = connect(opened.uri), opened.run
        with store_errors(opened.uri), _closed_on_error(client, run):
            measured = metrics(opened.names.renamed(summary.metrics), {}, _now_ms())
            log_files(client, run, summary.files, texts=self.texts)
            cells = _cells(client, opened)
            saved = save_view(client, opened.experiment, run, opened.names, summary, cells)
            note = linked(summary.note, opened.experiment, run) if saved else summary.note
            log(client, run, measured, [], tags({}, note))
            _close_left_open(client, cells)
            client.set_terminated(run, "FAILED" if summary.failed else "FINISHED")
        order = None if saved else opened.names.of(opened.names.primary)
        return how_to_look(opened.uri, Path(self.folder), opened.experiment, run, order)

    def abort_sweep(self, handle: Mapping[str, Any], message: str) -> None:
        """Marks the parent as failed, with the message as its description, and cells half written as killed."""
        sweep = _Sweep.of(handle)
        client = connect(sweep.uri)
        with store_errors(sweep.uri):
            client.set_terminated(sweep.run, "FAILED")
            log(client, sweep.run, [], [], tags({}, f"**This sweep was not finished.** {message}"))
            _close_left_open(client, _cells(client, sweep))


class _Sweep(NamedTuple):
    """A handle, read."""

    uri: str
    experiment: str
    run: str
    names: MetricNames
    dataset: Mapping[str, str]

    @classmethod
    def of(cls, handle: Mapping[str, Any]) -> _Sweep:
        names = MetricNames(handle["primary"], handle["shown_k"])
        return cls(handle["uri"], handle["experiment_id"], handle["run_id"], names, handle["dataset"])


def _cells(client: MlflowClient, sweep: _Sweep) -> list[Run]:
    """The newest 1,000 cells of the sweep."""
    return list(
        client.search_runs([sweep.experiment], f"tags.mlflow.parentRunId = '{sweep.run}'", max_results=1000)
    )


def _close_left_open(client: MlflowClient, cells: Sequence[Run]) -> None:
    for cell in cells:
        if cell.info.status == "RUNNING":
            client.set_terminated(cell.info.run_id, "KILLED")


def _source() -> dict[str, str]:
    """What MLflow's own functions would note as the run's origin."""
    source = {"mlflow.source.name": "python -m harness", "mlflow.source.type": "LOCAL"}
    # A container's user may have no name; the run then shows none.
    with suppress(KeyError, OSError):
        source["mlflow.user"] = getpass.getuser()
    return source


@contextmanager
def _closed_on_error(client: MlflowClient, run: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with suppress(Exception):
            client.set_terminated(run, "FAILED")
        raise


def _now_ms() -> int:
    return int(time.time() * 1000)
