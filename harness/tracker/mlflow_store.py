"""The place that MLflow writes to: its address, a client for it, and the experiment in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.errors import StoreError
from harness.tracker.mlflow_probe import unreachable
from harness.tracker.mlflow_sqlite import sqlite_path, usable

if TYPE_CHECKING:
    from mlflow import MlflowClient

PROBE_SECONDS = 4.0
_ADVICE = "Use tracker.uri=sqlite:////absolute/path/mlflow.db or a server's http:// address."
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    # Our own lines hold better links.
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # A server that dies in the middle of a sweep is noticed after seconds instead of minutes.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}


def store_uri(uri: str | None, folder: Path) -> str:
    """The address to use: ``uri``, else ``MLFLOW_TRACKING_URI``, else SQLite in ``folder``; SQLite paths made absolute.

    Raises ``StoreError`` for addresses that can't work (a folder, in memory) and for those that hold a password.
    """
    given = uri or os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{folder.absolute()}/mlflow.db"
    scheme = given.split(":", 1)[0] if ":" in given else "file"
    if scheme == "file":
        raise StoreError(
            f"The tracking store {given} is a folder, which MLflow no longer accepts. {_ADVICE}", where=given
        )
    if scheme == "sqlite":
        path = given.partition("://")[2].removeprefix("/")
        if not path or path == ":memory:":
            raise StoreError(
                f"The tracking store {given} is in memory, unseen by other processes. {_ADVICE}", where=given
            )
        return f"sqlite:///{Path(path).absolute()}"
    parts = urlsplit(given)
    if parts.password and scheme in {"http", "https"}:
        raise StoreError(
            f"The tracking address of {parts.hostname} holds a password, which would end up in files and logs. Put it into "
            "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD instead.",
            where=parts.hostname,
        )
    return given.rstrip("/")


def connect(uri: str) -> MlflowClient:
    """A client for a store that was seen to work; a SQLite store is created if need be.

    Raises ``StoreError`` within seconds when a server doesn't answer or a file can't be read or written.
    """
    if uri.startswith(("http://", "https://")):
        _check_answers(uri)
    path = sqlite_path(uri)
    with usable(path) if path else nullcontext(), store_errors(uri):
        client = _client(uri)
        client.search_experiments(max_results=1)
    return client


@contextmanager
def store_errors(uri: str) -> Iterator[None]:
    """Turns whatever MLflow, the database or the network raises into one ``StoreError`` that says what to do."""
    _prepare()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        remedy = "All results are in the output folder; mend the store and run the same command again."
        if "out-of-date database schema" in str(error):
            remedy = f"Another version of MLflow wrote it: copy it, then run 'mlflow db upgrade {uri}'."
        shown = _without_password(uri)
        raise StoreError(
            f"The tracking store {shown} can't be used: {lines[0].rstrip('.')}. {remedy}", where=shown
        ) from error


def experiment_id(client: MlflowClient, uri: str, name: str) -> str:
    """The id of the experiment, created if need be; artifacts of a SQLite store lie in ``artifacts`` beside it.

    Raises ``StoreError`` when the experiment was deleted.
    """
    from mlflow.exceptions import MlflowException

    path = sqlite_path(uri)
    artifacts = (path.parent / "artifacts").as_uri() if path else None
    with store_errors(uri):
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
        shown = _without_password(uri)
        raise StoreError(
            f"The experiment '{name}' was deleted in {shown}. Choose another name with tracker.experiment=NAME, or restore it: "
            f"MLFLOW_TRACKING_URI={shown} mlflow experiments restore --experiment-id {found.experiment_id}",
            where=shown,
        )
    return str(found.experiment_id)


def _check_answers(uri: str) -> None:
    reason = unreachable(f"{uri}/health", PROBE_SECONDS)
    if reason:
        raise StoreError(
            f"No tracking server answers at {uri} ({reason}). Start it or correct tracker.uri (or MLFLOW_TRACKING_URI); "
            "without either, results go into mlruns/.",
            where=uri,
        )


def _client(uri: str) -> MlflowClient:
    import logging

    from mlflow import MlflowClient

    for logger in ("mlflow", "alembic"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    return MlflowClient(tracking_uri=uri)


def _prepare() -> None:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # With it, every run that MLflow's own functions open would be that one run.
    os.environ.pop("MLFLOW_RUN_ID", None)


def _without_password(uri: str) -> str:
    password = urlsplit(uri).password
    return uri.replace(f":{password}@", ":***@") if password else uri
