from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from mlflow import MlflowClient
from tracker_processes import python
from tracker_records import sweep_record

from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_runs import ABANDONED, PROCESS_TAG, _ended, this_process

OPEN_AND_WAIT = """
import sys
from pathlib import Path
from harness.tracker import SweepRecord
from harness.tracker.mlflow import MlflowTracker
folder = Path(sys.argv[1])
tracker = MlflowTracker(folder=folder / "mlruns")
handle = tracker.open_sweep(SweepRecord("s", folder, {}, "mrr", 2))
from mlflow import MlflowClient
client = MlflowClient(tracking_uri=handle["uri"])
tags = {"mlflow.parentRunId": handle["run_id"]}
done = client.create_run(handle["experiment_id"], tags=tags).info.run_id
client.set_terminated(done)
half = client.create_run(handle["experiment_id"], tags=tags).info.run_id
print(handle["run_id"], done, half, flush=True)
sys.stdin.read()
"""


def test_a_killed_sweep_is_closed_by_the_next(tmp_path: Path) -> None:
    """Parent and half cell of a process that was killed are killed too; while it lives nothing is touched."""
    process = python(OPEN_AND_WAIT, str(tmp_path), stdin=subprocess.PIPE)
    assert process.stdout is not None
    parent, done, half = process.stdout.readline().split()
    tracker = MlflowTracker(folder=tmp_path / "mlruns")
    first = tracker.open_sweep(sweep_record(tmp_path))
    client = MlflowClient(tracking_uri=first["uri"])
    assert [client.get_run(run).info.status for run in (parent, done, half)] == [
        "RUNNING",
        "FINISHED",
        "RUNNING",
    ]
    process.send_signal(signal.SIGKILL)
    process.communicate()
    second = tracker.open_sweep(sweep_record(tmp_path))
    assert [client.get_run(run).info.status for run in (parent, done, half)] == [
        "KILLED",
        "FINISHED",
        "KILLED",
    ]
    assert client.get_run(parent).data.tags["mlflow.note.content"] == ABANDONED
    # This process's own sweeps live.
    for handle in (first, second):
        assert client.get_run(handle["run_id"]).info.status == "RUNNING"
        assert client.get_run(handle["run_id"]).data.tags[PROCESS_TAG] == this_process()
        tracker.abort_sweep(handle, "")


def test_only_this_hosts_dead_processes_have_ended() -> None:
    """Another host, a living process, or anything unknown is left alone."""
    host, pid, start = this_process().rsplit(":", 2)
    assert (host, pid) == (socket.gethostname(), str(os.getpid()))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead = f"{gone.pid}:1"
    assert _ended(f"{host}:{dead}")
    assert _ended(f"{host}:{pid}:{int(start) + 1}")
    assert not _ended(f"{host}:{pid}:{start}")
    assert not _ended(f"other-{host}:{dead}")
    assert not any(map(_ended, ["", "x", f"{host}:{pid}", f"{host}:a:b"]))


def test_without_proc_a_living_id_counts_as_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system tells no start times, only an id that is gone is proof."""
    monkeypatch.setattr("harness.tracker.mlflow_runs._start", lambda _: "0")
    assert this_process().endswith(f":{os.getpid()}:0")
    assert not _ended(this_process())
