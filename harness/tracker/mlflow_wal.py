"""Write-ahead mode for SQLite stores on local disks: a cell then costs no waiting for the disk.

In the default mode every write waits three times for the disk, and readers such as the UI stop writers. After a loss of
power a store in this mode is whole, though its last writes may be missing; they are in the output folder.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from harness.tracker.mlflow_disk import on_local_disk

_WATCHED: set[Path] = set()


def write_ahead(path: Path) -> None:
    """Puts a store that has no content yet into write-ahead mode for good, where its disk is local.

    Processes of several hosts may not share such a file, so it is not for network disks; a store that exists is left
    as it is.
    """
    if path.stat().st_size == 0 and on_local_disk(path.parent):
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode=WAL")


def wait_less(path: Path) -> None:
    """Lets this process's connections of SQLAlchemy to the store wait for the disk at checkpoints only, if it is in that mode."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    if path in _WATCHED:
        return
    _WATCHED.add(path)

    @event.listens_for(Engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        if not isinstance(connection, sqlite3.Connection):
            return
        file = connection.execute("PRAGMA database_list").fetchone()[2]
        if file and Path(file) == path.resolve() and _mode(connection) == "wal":
            connection.execute("PRAGMA synchronous=NORMAL")


def _mode(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA journal_mode").fetchone()[0])
