"""The SQLite store: its file is checked before MLflow opens it, and created by one process at a time.

MLflow retries a file that it can't use again and again, with growing pauses, and several processes that
create the same store at once crash in its migrations.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from harness.errors import StoreError
from harness.files.atomic import locked

LOCK_SECONDS = 120.0
_BUSY_SECONDS = 20.0
_ELSEWHERE = (
    "choose another place with tracker.uri=sqlite:////path/mlflow.db, or with HARNESS_ROOT=/path for all "
    "that is written"
)
# Any other file system may be shared with other machines or implement locks imperfectly.
_LOCAL = {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "overlay"}
_MOUNTS = Path("/proc/self/mountinfo")


@contextmanager
def usable(path: Path) -> Iterator[None]:
    """Holds the lock of a store that can be read and written; makes its folder if need be.

    Raises ``StoreError`` when the file or its folder can't be written, when the file is damaged or not a
    SQLite file, and when another process has held the lock for two minutes.
    """
    lock = path.with_name(f"{path.name}.lock")
    busy = f"Another process has held {lock} for {LOCK_SECONDS:.0f} s. End it, then run the same command."
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(lock, LOCK_SECONDS, busy))
        except OSError as error:
            raise _unwritable(path, str(error.strerror)) from error
        _check(path)
        _write_ahead(path)
        yield


def on_local_disk(folder: Path) -> bool:
    """Whether the folder's file system is known to be local; False where the system doesn't tell."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    place, kind = folder.resolve(), ""
    longest = 0
    for line in lines:
        # Fields: id, parent, device, root, mount point, options, ... - type, source; blanks are \040.
        before, _, after = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), before.split()[4])
        # Of two mounts on one point, the later hides the earlier.
        if place.is_relative_to(point) and len(point) >= longest:
            longest, kind = len(point), after.split()[0]
    return kind in _LOCAL


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
            f"The tracking store {path} is damaged or not a SQLite file ({error}). Move it away (a new one "
            f"is created) or {_ELSEWHERE}.",
            where=path,
        ) from error


def _write_ahead(path: Path) -> None:
    """Puts a store that has no content yet into write-ahead mode for good, where its disk is local.

    Readers such as the UI then don't stop writers, and a write waits for the disk once instead of three
    times. Several hosts can't share such a file, so it is not for network disks; an existing store is left as
    it is.
    """
    if path.stat().st_size == 0 and on_local_disk(path.parent):
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode=WAL")


def _unwritable(path: Path, reason: str) -> StoreError:
    return StoreError(
        f"The tracking store {path} can't be written: {reason}. Give its folder to this user, free some "
        f"space or {_ELSEWHERE}.",
        where=path,
    )
