from __future__ import annotations

import logging
import socket
from pathlib import Path

import pytest
from mlflow import MlflowClient
from tracker_processes import free_port, python
from tracker_records import sweep_record

from harness.errors import StoreError
from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_address import store_uri
from harness.tracker.mlflow_probe import unreachable
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
    """MLflow's migrations crash when they run twice at once; the lock lets one process create, the others use."""
    processes = [python(OPEN_AND_RECORD, str(tmp_path)) for _ in range(4)]
    results = [(*process.communicate(), process.returncode) for process in processes]
    assert results == [("", "", 0)] * 4
    client = MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("retrieval")
    assert experiment is not None
    assert len(client.search_runs([experiment.experiment_id])) == 8


def test_a_closed_port_is_said_so(tmp_path: Path) -> None:
    """A server that is not running is found before anything else, with what to do."""
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(
        StoreError, match=r"No tracking server answers at http://127.*refused.*tracker\.uri"
    ) as caught:
        MlflowTracker(uri=address).open_sweep(sweep_record(tmp_path))
    assert caught.value.where == address


def test_a_silent_server_is_given_up() -> None:
    """A port that accepts and never answers does not hang the sweep."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        reason = unreachable(f"http://127.0.0.1:{silent.getsockname()[1]}/health", 0.2)
    assert "timed out" in reason


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
    with pytest.raises(StoreError, match=r"is damaged or is no SQLite file.*Move it away"):
        MlflowTracker(folder=tmp_path).open_sweep(sweep_record(tmp_path))
    assert (tmp_path / "mlflow.db").read_bytes() == content


def test_a_deleted_experiment(tmp_path: Path) -> None:
    """Its name and the way back are named."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    client = connect(uri)
    number = client.create_experiment("mine", artifact_location=tmp_path.as_uri())
    client.delete_experiment(number)
    with pytest.raises(StoreError, match=f"experiment 'mine' was deleted.*--experiment-id {number}"):
        MlflowTracker(folder=tmp_path, experiment="mine").open_sweep(sweep_record(tmp_path))


@pytest.mark.parametrize("uri", ["file:./mlruns", "file:///tmp/mlruns", "./mlruns"])
def test_a_folder_as_store_is_refused(uri: str) -> None:
    """MLflow accepts folders no longer; the message says what to write instead."""
    with pytest.raises(StoreError, match=r"is a folder.*sqlite:////"):
        store_uri(uri, Path("mlruns"))


def test_a_store_in_memory_is_refused() -> None:
    """Jobs in other processes could not see it."""
    with pytest.raises(StoreError, match="in memory"):
        store_uri("sqlite://", Path("mlruns"))


def test_a_password_is_never_repeated() -> None:
    """It would end up in sweep.json; the message does not hold it either."""
    with pytest.raises(StoreError, match="MLFLOW_TRACKING_PASSWORD") as caught:
        store_uri("https://me:geheim@example.org", Path("mlruns"))
    assert "geheim" not in f"{caught.value} {caught.value.where}"


def test_which_store_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting, else the usual variable, else SQLite in the folder; paths are absolute for other processes."""
    monkeypatch.chdir(tmp_path)
    assert store_uri(None, Path("mlruns")) == f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    assert store_uri("sqlite:///own.db", Path("mlruns")) == f"sqlite:///{tmp_path}/own.db"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://host:5000/")
    assert store_uri(None, Path("mlruns")) == "http://host:5000"
    assert store_uri(f"sqlite:///{tmp_path}/x.db", Path("mlruns")) == f"sqlite:///{tmp_path}/x.db"


def test_mlflow_itself_stays_quiet(tmp_path: Path) -> None:
    """Only errors of MLflow and its migrations reach the log."""
    connect(f"sqlite:///{tmp_path}/mlflow.db")
    assert not logging.getLogger("mlflow").isEnabledFor(logging.WARNING)
    assert not logging.getLogger("alembic").isEnabledFor(logging.WARNING)
