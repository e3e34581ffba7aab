"""The place that MLflow writes to: a client for it, seen to work, and the experiment in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from harness.errors import StoreError
from harness.tracker.mlflow_address import DATABASES, WEB, kind_of, shown
from harness.tracker.mlflow_database import check_database
from harness.tracker.mlflow_probe import unreachable
from harness.tracker.mlflow_sqlite import sqlite_path, usable

if TYPE_CHECKING:
    from mlflow import MlflowClient

PROBE_SECONDS = 4.0
# What to do ends every message, and depends on how far the sweep has come.
OPENING = (
    "Nothing has run yet: mend or start the store, or correct tracker.uri (or MLFLOW_TRACKING_URI). Without either, "
    "results go into mlruns/; tracker=none tracks nothing."
)
RECORDING = "All results are in the output folder; mend the store and run the same command again."
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    # Our own lines hold better links.
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # A server that dies in the middle of a sweep is noticed after seconds instead of minutes.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    # A bar for every single file that is read would bury what is said.
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
# Clients of stores that were seen to work, by process (a fork may not share connections) and address.
_CLIENTS: dict[tuple[int, str], MlflowClient] = {}


def connect(uri: str, remedy: str = OPENING) -> MlflowClient:
    """A client for a store that was seen to work; a SQLite store is created if need be.

    Raises ``StoreError``, ended by ``remedy``, within seconds when a server doesn't answer or a file can't be read or
    written.
    """
    if kind_of(uri) in WEB:
        _check_answers(uri, remedy)
    elif kind_of(uri) in DATABASES:
        check_database(uri, PROBE_SECONDS, remedy)
    path = sqlite_path(uri)
    with usable(path) if path else nullcontext(), store_errors(uri, remedy):
        client = _client(uri)
        client.search_experiments(max_results=1)
    _CLIENTS[os.getpid(), uri] = client
    return client


def connected(uri: str) -> MlflowClient:
    """The client of this process for a store that was seen to work before, else a new one.

    A store that died since then shows when it is used, within ``store_errors``.
    """
    return _CLIENTS.get((os.getpid(), uri)) or connect(uri, RECORDING)


@contextmanager
def store_errors(uri: str, remedy: str = RECORDING) -> Iterator[None]:
    """Turns whatever MLflow, the database or the network raises into one ``StoreError`` that says what to do."""
    _prepare()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        if "out-of-date database schema" in str(error):
            remedy = (
                f"Another version of MLflow wrote it: copy it, then run 'mlflow db upgrade {shown(uri)}'."
            )
        reason = shown(lines[0]).rstrip(".")
        raise StoreError(
            f"The tracking store {shown(uri)} can't be used: {reason}. {remedy}", where=shown(uri)
        ) from error


def experiment_id(client: MlflowClient, uri: str, name: str) -> str:
    """The id of the experiment, created if need be; artifacts of a SQLite store lie in ``artifacts`` beside it.

    Raises ``StoreError`` when the experiment was deleted.
    """
    from mlflow.exceptions import MlflowException

    path = sqlite_path(uri)
    artifacts = (path.parent / "artifacts").as_uri() if path else None
    with store_errors(uri, OPENING):
        found = client.get_experiment_by_name(name)
        if found is None:
            tags = {"mlflow.experimentKind": "custom_model_development"}
            try:
                return str(client.create_experiment(name, artifact_location=artifacts, tags=tags))
            except MlflowException:
                # Another process may have been faster.
                found = client.get_experiment_by_name(name)
                if found is None:
                    raise
    if found.lifecycle_stage == "deleted":
        raise StoreError(
            f"The experiment '{name}' was deleted in {shown(uri)}. Choose another name with tracker.experiment=NAME, or "
            f"restore it: MLFLOW_TRACKING_URI={shown(uri)} mlflow experiments restore --experiment-id {found.experiment_id}",
            where=shown(uri),
        )
    return str(found.experiment_id)


def _check_answers(uri: str, remedy: str) -> None:
    reason = unreachable(f"{uri}/health", PROBE_SECONDS)
    if reason:
        raise StoreError(f"No tracking server answers at {uri} ({reason}). {remedy}", where=uri)


def _client(uri: str) -> MlflowClient:
    import logging

    from mlflow import MlflowClient

    for logger in ("mlflow", "alembic"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    # It logs a traceback of every error that it raises as well.
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
    return MlflowClient(tracking_uri=uri)


def _prepare() -> None:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # With it, every run that MLflow's own functions open would be that one run.
    os.environ.pop("MLFLOW_RUN_ID", None)
