"""The SQLite store: its file is looked at before MLflow touches it, and created by one process at a time.

MLflow tries a file it can't use again and again, with growing pauses, and several processes that create the same store
at once crash in its migrations.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from harness.errors import StoreError
from harness.tracker.mlflow_wal import wait_less, write_ahead

LOCK_SECONDS = 120.0
_BUSY_SECONDS = 20.0
_ELSEWHERE = "name another place with tracker.uri=sqlite:////path/mlflow.db, or with HARNESS_ROOT=/path for all that is written"


def sqlite_path(uri: str) -> Path | None:
    """The file of a SQLite store, None for any other store."""
    return Path(uri.removeprefix("sqlite:///")) if uri.startswith("sqlite:///") else None


@contextmanager
def usable(path: Path) -> Iterator[None]:
    """Holds the lock of a store that can be read and written; makes its folder if need be.

    Raises ``StoreError`` when the file or its folder can't be written, when the file is no SQLite file or damaged, and
    when another process has held the lock for two minutes.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name}.lock")
        lock.touch()
    except OSError as error:
        raise _unwritable(path, str(error.strerror)) from error
    with _held(lock):
        _check(path)
        write_ahead(path)
        wait_less(path)
        yield


def _check(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as database:
            database.execute("SELECT count(*) FROM sqlite_master")
            database.execute("BEGIN IMMEDIATE")
            database.rollback()
    except sqlite3.OperationalError as error:
        raise _unwritable(path, str(error)) from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"The tracking store {path} is damaged or is no SQLite file ({error}). Move it away (a new one is created) or "
            f"{_ELSEWHERE}.",
            where=path,
        ) from error


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    import fcntl

    deadline = time.monotonic() + LOCK_SECONDS
    with lock.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise StoreError(
                        f"Another process has held {lock} for {LOCK_SECONDS:.0f} s. End it, then run the same command.",
                        where=lock,
                    ) from None
                time.sleep(0.05)
        yield


def _unwritable(path: Path, reason: str) -> StoreError:
    return StoreError(
        f"The tracking store {path} can't be written: {reason}. Give its folder to this user, free some space or {_ELSEWHERE}.",
        where=path,
    )
