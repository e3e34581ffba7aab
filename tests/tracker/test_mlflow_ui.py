from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from tracker_processes import ROOT, free_port
from tracker_records import cell_record, sweep_record, sweep_summary

from harness.errors import SettingError
from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_probe import unreachable
from harness.tracker.mlflow_ui import main, port_of


@pytest.mark.parametrize("text", ["abc", "0", "65536", "-1", "", "٣"])
def test_what_is_no_port(text: str) -> None:
    """A sentence with the range and an example."""
    with pytest.raises(SettingError, match=r"^PORT=.* is no port; .*1 to 65535: PORT=5001 bash scripts/ui$"):
        port_of(text)


def test_a_port_in_use() -> None:
    """The address, the reason and the way out."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            SettingError, match=f"Port {port} can't be used on 127.0.0.1 \\(Address already in use\\)"
        ):
            port_of(str(port))


def test_a_store_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is created; the message says how to make one."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    assert main([uri, str(free_port())]) == 1
    assert f"There is no tracking store at {uri} yet. Run a sweep first" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_link_is_said_last_when_the_server_answers(tmp_path: Path) -> None:
    """Two lines, no noise; an interrupt ends the server and everything that it started."""
    tracker = MlflowTracker(folder=tmp_path / "mlruns")
    handle = tracker.open_sweep(sweep_record(tmp_path))
    tracker.record_cell(handle, cell_record(tmp_path / "0"))
    tracker.close_sweep(handle, sweep_record(tmp_path), sweep_summary(tmp_path))
    port = free_port()
    process = subprocess.Popen(
        ["bash", str(ROOT / "scripts" / "ui"), handle["uri"]],
        env=os.environ | {"PORT": str(port)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("Starting MLflow on sqlite:///")
        link = process.stdout.readline()
        assert link.startswith(f"Newest sweep: http://127.0.0.1:{port}/#/experiments/")
        assert unreachable(f"http://127.0.0.1:{port}/health", 10.0) == ""
    finally:
        process.send_signal(signal.SIGINT)
        rest, noise = process.communicate(timeout=120)
    assert (rest, noise) == ("", "")
    assert unreachable(f"http://127.0.0.1:{port}/health", 2.0) != ""
