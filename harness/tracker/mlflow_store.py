"""The store that MLflow writes to: a client for it, known to work, and the experiment in it.

A server or a database is asked before MLflow is: MLflow retries an unreachable one for minutes, and a missing
driver ends in a traceback.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from harness.errors import StoreError
from harness.files.hub import why_unreachable
from harness.tracker.mlflow_address import DATABASES, WEB, kind_of, shown, sqlite_path
from harness.tracker.mlflow_sqlite import usable

if TYPE_CHECKING:
    from mlflow import MlflowClient

PROBE_SECONDS = 4.0
# The remedy ends every message, and depends on how far the sweep has come.
OPENING = (
    "Nothing has run yet: start or repair the store, or correct tracker.uri (or MLFLOW_TRACKING_URI). "
    "Without either, results go into mlruns/; tracker=none tracks nothing."
)
RECORDING = "All results are in the output folder; repair the store and run the same command again."
READING = "Start or repair the store, or correct tracker.uri (or MLFLOW_TRACKING_URI)."
RUN_FIRST = "Run a sweep first: python -m harness -m model=minilm,wordllama chunk=256,512"
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    # Our own lines hold better links.
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # A server that dies in the middle of a sweep is noticed after seconds instead of minutes.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    # A bar for every single file that is read would hide the messages.
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
_DRIVERS = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}
_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
# Clients of stores that are known to work, by process (a fork may not share connections) and address.
_CLIENTS: dict[tuple[int, str], MlflowClient] = {}


def connect(uri: str, remedy: str = OPENING) -> MlflowClient:
    """A client for a store that is known to work; a SQLite store is created if need be.

    Raises ``StoreError``, ended by ``remedy``, within seconds when a server doesn't answer or a file can't be
    read or written.
    """
    if kind_of(uri) in WEB and (reason := why_unreachable(f"{uri}/health", PROBE_SECONDS)):
        raise StoreError(f"No tracking server answers at {uri} ({reason}). {remedy}", where=uri)
    if kind_of(uri) in DATABASES:
        check_database(uri, remedy)
    path = sqlite_path(uri)
    with usable(path) if path else nullcontext(), store_errors(uri, remedy):
        client = _client(uri)
        client.search_experiments(max_results=1)
    _CLIENTS[os.getpid(), uri] = client
    return client


def connect_existing(uri: str) -> MlflowClient:
    """A client as from ``connect``, but raises ``StoreError`` for a SQLite file that doesn't exist."""
    path = sqlite_path(uri)
    if path and not path.is_file():
        raise StoreError(f"There is no tracking store at {shown(uri)} yet. {RUN_FIRST}", where=uri)
    return connect(uri, READING)


def connected(uri: str) -> MlflowClient:
    """The client of this process for a store that worked before, else a new one.

    A store that failed since then is noticed when it is used, within ``store_errors``.
    """
    return _CLIENTS.get((os.getpid(), uri)) or connect(uri, RECORDING)


@contextmanager
def store_errors(uri: str, remedy: str = RECORDING) -> Iterator[None]:
    """Turns errors of MLflow, the database or the network into one ``StoreError`` that says what to do."""
    _prepare()
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (MlflowException, SQLAlchemyError, OSError) as error:
        if "out-of-date database schema" in str(error):
            remedy = (
                f"Another version of MLflow wrote it: copy it, then run 'mlflow db upgrade {shown(uri)}'."
            )
        raise _unusable(uri, _first_line(error), remedy) from error


def experiment_id(client: MlflowClient, uri: str, name: str) -> str:
    """The id of the experiment, created if need be; artifacts of SQLite are in ``artifacts`` beside it.

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
            f"The experiment '{name}' was deleted in {shown(uri)}. Choose another name with "
            f"tracker.experiment=NAME, or restore it: MLFLOW_TRACKING_URI={shown(uri)} mlflow experiments "
            f"restore --experiment-id {found.experiment_id}",
            where=shown(uri),
        )
    return str(found.experiment_id)


def check_database(uri: str, remedy: str) -> None:
    """Raises ``StoreError`` when the driver is missing, or the server can't be reached or refuses."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    try:
        engine = create_engine(uri, poolclass=NullPool)
        host, port = engine.url.host, engine.url.port or _PORTS.get(engine.url.get_backend_name())
        if host and port and (reason := why_unreachable(f"tcp://{host}:{port}", PROBE_SECONDS)):
            raise _unusable(uri, reason, remedy)
        engine.connect().close()
    except ImportError as error:
        package = _DRIVERS.get(str(error.name), error.name)
        raise StoreError(
            f"The tracking store {shown(uri)} needs the Python package {package}, which is not installed. "
            f"Install it: {sys.executable} -m pip install '{package}'",
            where=shown(uri),
        ) from None
    except (SQLAlchemyError, ValueError) as error:
        raise _unusable(uri, _first_line(error), remedy) from None


def _unusable(uri: str, reason: str, remedy: str) -> StoreError:
    return StoreError(f"The tracking store {shown(uri)} can't be used: {reason}. {remedy}", where=shown(uri))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return shown(lines[0]).rstrip(".")


def _client(uri: str) -> MlflowClient:
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
