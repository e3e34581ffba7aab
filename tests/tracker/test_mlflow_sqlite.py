from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock
from mlflow import MlflowClient
from tracker_processes import python
from tracker_records import sweep_record

from harness.errors import StoreError
from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_sqlite import on_local_disk
from harness.tracker.mlflow_store import connect

OPEN_AND_RECORD = """
import sys
from pathlib import Path
from harness.tracker import CellRecord, SweepRecord
from harness.tracker.mlflow import MlflowTracker
folder = Path(sys.argv[1])
tracker = MlflowTracker(folder=folder / "mlruns")
handle = tracker.open_sweep(SweepRecord("s", folder, {}, "mrr", 1))
tracker.record_cell(handle, CellRecord("c", folder / "none", {"a": "b"}, {"mrr": 0.5}))
tracker.abort_sweep(handle, "done")
"""


def test_four_processes_may_create_one_store(tmp_path: Path) -> None:
    """MLflow's migrations crash when two run at once; the lock lets one process create the store."""
    processes = [python(OPEN_AND_RECORD, str(tmp_path)) for _ in range(4)]
    results = [(*process.communicate(), process.returncode) for process in processes]
    assert results == [("", "", 0)] * 4
    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("retrieval")
    assert experiment is not None
    assert len(client.search_runs([experiment.experiment_id])) == 8


def test_a_lock_that_is_held_for_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock's file is named, and what to do."""
    monkeypatch.setattr("harness.tracker.mlflow_sqlite.LOCK_SECONDS", 0.0)
    lock = tmp_path / "mlflow.db.lock"
    with FileLock(lock), pytest.raises(StoreError, match=f"Another process has held {lock} .* End it"):
        MlflowTracker(folder=tmp_path).check()


def test_a_folder_that_cant_be_made(tmp_path: Path) -> None:
    """Not writable: the path, the reason and both settings that name another place."""
    (tmp_path / "file").write_text("")
    words = (
        r"file/mlflow\.db can't be written: (Not a directory|File exists).*tracker\.uri=.*HARNESS_ROOT=/path"
    )
    with pytest.raises(StoreError, match=words):
        MlflowTracker(folder=tmp_path / "file").open_sweep(sweep_record(tmp_path))


@pytest.mark.parametrize("content", [b"not a database at all" * 99, b"SQLite format 3\x00" + b"\x99" * 4096])
def test_a_damaged_store(tmp_path: Path, content: bytes) -> None:
    """A file that is no SQLite store is refused at once and left as it is."""
    (tmp_path / "mlflow.db").write_bytes(content)
    with pytest.raises(StoreError, match=r"is damaged or not a SQLite file.*Move it away"):
        MlflowTracker(folder=tmp_path).open_sweep(sweep_record(tmp_path))
    assert (tmp_path / "mlflow.db").read_bytes() == content


def test_a_new_store_on_a_local_disk_writes_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where the disk is known to be local; an existing store stays as it is."""

    def mode(path: Path) -> str:
        with closing(sqlite3.connect(path)) as database:
            return str(database.execute("PRAGMA journal_mode").fetchone()[0])

    for local in (True, False):
        monkeypatch.setattr("harness.tracker.mlflow_sqlite.on_local_disk", lambda _, local=local: local)
        connect(f"sqlite:///{tmp_path}/{local}.db")
        assert mode(tmp_path / f"{local}.db") == ("wal" if local else "delete")
    monkeypatch.setattr("harness.tracker.mlflow_sqlite.on_local_disk", lambda _: True)
    connect(f"sqlite:///{tmp_path}/False.db")
    assert mode(tmp_path / "False.db") == "delete"


def test_local_and_network_disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest mount point counts, a later one hides an earlier, blanks are written as octal numbers."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/a rw\n"
        "2 1 0:5 / /net rw shared:1 - nfs4 host:/x rw\n"
        "3 2 8:2 / /net/my\\040disk rw - xfs /dev/b rw\n"
        "4 2 0:6 / /net/my\\040disk/top rw - ext4 /dev/c rw\n"
        "5 2 0:7 / /net/my\\040disk/top rw - fuse.sshfs host: rw\n"
    )
    monkeypatch.setattr("harness.tracker.mlflow_sqlite._MOUNTS", mounts)
    places = ["/x", "/network", "/net/a", "/net/my disk/a", "/net/my disk/top/a"]
    assert [on_local_disk(Path(place)) for place in places] == [True, True, False, True, False]
    monkeypatch.setattr("harness.tracker.mlflow_sqlite._MOUNTS", tmp_path / "none")
    assert not on_local_disk(Path("/x"))
