"""Addresses that open a sweep in MLflow's UI, and what to type to get there.

Every address asks for the machine learning side of the UI: without that it opens on an empty page about traces.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from harness.tracker.mlflow_address import WEB, kind_of
from harness.tracker.mlflow_sqlite import sqlite_path
from harness.tracker.mlflow_view import VIEW_TAG, canonical, view_key

if TYPE_CHECKING:
    from mlflow import MlflowClient

LOCAL_ADDRESS = "http://127.0.0.1:5000"


def how_to_look(uri: str, folder: Path, experiment: str, parent: str, order: str | None) -> list[str]:
    """Lines to print at the end of a sweep: the command that starts the UI (not for a server) and the addresses.

    ``folder`` is the tracker's own. ``order`` is the metric to sort by when no view was saved, else None.
    """
    base = uri if kind_of(uri) in WEB else LOCAL_ADDRESS
    links = view_links(base, experiment, view_key(parent))
    if order is not None:
        links = {"Leaderboard": plain_link(base, experiment, parent, order)}
    command = {"Open MLflow": _command(uri, folder)} if base != uri else {}
    return [f"{name:<12} {value}" for name, value in (command | links).items()]


def linked(note: str, experiment: str, parent: str) -> str:
    """The description of a sweep with the addresses of its view as second line, relative to the UI that shows it."""
    links = view_links("", experiment, view_key(parent))
    line = " · ".join(f"[{name}]({link.removeprefix('/')})" for name, link in links.items())
    first, _, rest = note.partition("\n\n")
    return "\n\n".join(part for part in (first.strip(), line, rest) if part)


def view_links(base: str, experiment: str, key: str) -> dict[str, str]:
    """Addresses of the leaderboard and of the charts, by the names under which they are printed."""
    table = f"{base}/#/experiments/{experiment}/runs?workflowType=machine_learning&viewStateShareKey={key}"
    return {"Leaderboard": table, "Charts": f"{table}&compareRunsMode=CHART"}


def plain_link(base: str, experiment: str, parent: str, primary: str) -> str:
    """The leaderboard without a saved view: filter and order in the address itself."""
    search = quote(f"tags.mlflow.parentRunId = '{parent}'", safe="")
    order = quote(canonical(f"metrics.{primary}"), safe="")
    return (
        f"{base}/#/experiments/{experiment}/runs?workflowType=machine_learning&searchFilter={search}"
        f"&orderByKey={order}&orderByAsc=false"
    )


def run_link(base: str, experiment: str, run: str) -> str:
    """The address of one run's page."""
    return f"{base}/#/experiments/{experiment}/runs/{run}?workflowType=machine_learning"


def newest_link(client: MlflowClient, base: str) -> str | None:
    """The leaderboard of the newest sweep in the store, None when there is no sweep with a view."""
    experiments = client.search_experiments()
    newest = client.search_runs(
        [e.experiment_id for e in experiments],
        filter_string="tags.`harness.kind` = 'sweep'",
        order_by=["attributes.start_time DESC"],
        max_results=1,
    )
    if not newest:
        return None
    experiment = newest[0].info.experiment_id
    key = view_key(newest[0].info.run_id)
    tags = next(e.tags for e in experiments if e.experiment_id == experiment)
    if f"{VIEW_TAG}{key}" in tags:
        return view_links(base, experiment, key)["Leaderboard"]
    return run_link(base, experiment, newest[0].info.run_id)


def _command(uri: str, folder: Path) -> str:
    """What starts the UI: the checkout's script where there is one, else MLflow's own command."""
    path = sqlite_path(uri)
    # A database's address may hold a password, which is not printed.
    store = shlex.quote(f"sqlite:///{path}") if path else '"$MLFLOW_TRACKING_URI"'
    if (folder.absolute().parent / "scripts" / "ui").is_file():
        return "bash scripts/ui" if path == folder.absolute() / "mlflow.db" else f"bash scripts/ui {store}"
    return f"MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false mlflow server --workers 1 --backend-store-uri {store}"
