from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tracker_records import cell_record, sweep_record

from harness.errors import StoreError
from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_artifacts import LARGEST_MB, ready
from harness.tracker.mlflow_disk import on_local_disk
from harness.tracker.mlflow_store import connect, connected


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that change the store, and the ends of their transactions, within the block."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    said: list[str] = []

    def executed(_: object, __: object, statement: str, *___: object) -> None:
        if not statement.startswith(("SELECT", "PRAGMA")):
            said.append(statement.split(maxsplit=1)[0])

    def committed(_: object) -> None:
        # A transaction that only read costs nothing.
        if said and said[-1] != "COMMIT":
            said.append("COMMIT")

    event.listen(Engine, "before_cursor_execute", executed)
    event.listen(Engine, "commit", committed)
    yield said
    event.remove(Engine, "before_cursor_execute", executed)
    event.remove(Engine, "commit", committed)


def test_a_cell_costs_five_writes(tmp_path: Path) -> None:
    """Run with its tags, params, metrics, input, end: each waits for the disk, so no sixth may creep in."""
    tracker = MlflowTracker(folder=tmp_path / "m")
    handle = tracker.open_sweep(sweep_record(tmp_path))
    tracker.record_cell(handle, cell_record(tmp_path / "0"))
    with counted() as said:
        tracker.record_cell(handle, cell_record(tmp_path / "1"))
    assert said.count("COMMIT") == 5
    tracker.abort_sweep(handle, "")


def test_a_client_is_made_once(tmp_path: Path) -> None:
    """Cells of one process share the client that opened the sweep."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    client = connect(uri)
    assert connected(uri) is client
    assert connected(f"sqlite:///{tmp_path}/other.db") is not client


def test_a_new_store_on_a_local_disk_writes_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does where the disk is known to be local; a store on a network disk and one that exists stay as they are."""

    def mode(path: Path) -> str:
        with closing(sqlite3.connect(path)) as database:
            return str(database.execute("PRAGMA journal_mode").fetchone()[0])

    for local in (True, False):
        monkeypatch.setattr("harness.tracker.mlflow_wal.on_local_disk", lambda _, local=local: local)
        connect(f"sqlite:///{tmp_path}/{local}.db")
        assert mode(tmp_path / f"{local}.db") == ("wal" if local else "delete")
    monkeypatch.setattr("harness.tracker.mlflow_wal.on_local_disk", lambda _: True)
    connect(f"sqlite:///{tmp_path}/False.db")
    assert mode(tmp_path / "False.db") == "delete"


def test_only_stores_that_write_ahead_wait_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their connections wait at checkpoints only (1); in the default mode that could damage a store, so they wait (2)."""
    import sqlalchemy

    for local, waiting in ((True, 1), (False, 2)):
        monkeypatch.setattr("harness.tracker.mlflow_wal.on_local_disk", lambda _, local=local: local)
        uri = f"sqlite:///{tmp_path}/{local}.db"
        connect(uri)
        for address, expected in ((uri, waiting), (f"sqlite:///{tmp_path}/others.db", 2)):
            engine = sqlalchemy.create_engine(address)
            with engine.connect() as connection:
                assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == expected
            engine.dispose()


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
    monkeypatch.setattr("harness.tracker.mlflow_disk._MOUNTS", mounts)
    places = ["/x", "/network", "/net/a", "/net/my disk/a", "/net/my disk/top/a"]
    assert [on_local_disk(Path(place)) for place in places] == [True, True, False, True, False]
    monkeypatch.setattr("harness.tracker.mlflow_disk._MOUNTS", tmp_path / "none")
    assert not on_local_disk(Path("/x"))


def test_large_files_stay_in_the_output_folder(tmp_path: Path) -> None:
    """Nothing above 5 MB is copied but the rankings; the description says what is missing, its first line stays first."""
    tracker = MlflowTracker(folder=tmp_path / "m")
    handle = tracker.open_sweep(sweep_record(tmp_path))
    cell = cell_record(tmp_path / "0", note="first\n\nsecond")
    for name in ("report.html", "rankings.npz"):
        (cell.folder / name).write_bytes(b"x" * int(LARGEST_MB * 1e6 + 200_000))
    (cell.folder / "edge.html").write_bytes(b"x" * int(LARGEST_MB * 1e6))
    run = connected(handle["uri"]).get_run(tracker.record_cell(handle, cell))
    copied = sorted(path.name for path in Path(run.info.artifact_uri.removeprefix("file://")).iterdir())
    assert copied == ["config.yaml", "edge.html", "rankings.npz", "result.json"]
    assert run.data.tags["mlflow.note.content"] == (
        f"first\n\nToo large to be copied here: report.html (5.2 MB). See {cell.folder}.\n\nsecond"
    )
    tracker.abort_sweep(handle, "")


def test_files_that_fit_are_all_ready(tmp_path: Path) -> None:
    """Nothing is left out without need."""
    (tmp_path / "a.png").write_bytes(b"x")
    with ready([tmp_path / "a.png"], texts=True) as files:
        assert files == ([tmp_path / "a.png"], [])


def test_the_remedy_depends_on_how_far_the_sweep_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first cell nothing lies in the output folder; afterwards everything does."""
    tracker = MlflowTracker(folder=tmp_path / "m")
    handle = tracker.open_sweep(sweep_record(tmp_path))

    def broken(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("mlflow.MlflowClient.create_run", broken)
    with pytest.raises(StoreError, match="Nothing has run yet") as opening:
        tracker.open_sweep(sweep_record(tmp_path))
    assert "output folder" not in str(opening.value)
    with pytest.raises(StoreError, match="All results are in the output folder"):
        tracker.record_cell(handle, cell_record(tmp_path / "0"))
    tracker.abort_sweep(handle, "")
