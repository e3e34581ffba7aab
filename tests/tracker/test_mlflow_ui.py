from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from tracker_processes import ROOT, free_port
from tracker_records import cell_record, sweep_record, sweep_summary

from harness.files.hub import why_unreachable
from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_ui import how_to_look, main


def uri_of_a_store(folder: Path) -> str:
    return f"sqlite:///{folder}/mlflow.db"


@pytest.mark.parametrize("text", ["abc", "65536", "-1", ""])
def test_an_invalid_port(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence with the way out; nothing is started."""
    assert main([uri_of_a_store(tmp_path), text]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"Port {text} can't be used on 127.0.0.1 (")
    assert said.endswith("Choose another one: PORT=5001 bash scripts/ui\n")


def test_a_port_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The address, the reason and the way out."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert main([uri_of_a_store(tmp_path), str(port)]) == 1
    assert f"Port {port} can't be used on 127.0.0.1 (Address already in use" in capsys.readouterr().err


def test_a_store_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is created; the message says how to make one."""
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    assert main([uri, str(free_port())]) == 1
    assert f"There is no tracking store at {uri} yet. Run a sweep first" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_checkouts_script_is_named_where_there_is_one(tmp_path: Path) -> None:
    """In a checkout the command is short; elsewhere it is MLflow's own; odd paths are quoted."""
    folder = tmp_path / "mlruns"
    elsewhere = how_to_look("sqlite:////odd place/mlflow.db", folder, "1", "abc")[0]
    assert elsewhere.endswith("--backend-store-uri 'sqlite:////odd place/mlflow.db'")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "ui").write_text("")
    assert how_to_look(f"sqlite:///{folder}/mlflow.db", folder, "1", "abc")[0].endswith("  bash scripts/ui")
    assert how_to_look("sqlite:////x.db", folder, "1", "abc")[0].endswith("bash scripts/ui sqlite:////x.db")


def test_a_database_is_looked_at_through_a_server_of_ones_own(tmp_path: Path) -> None:
    """A browser can't open its address, which is not printed."""
    command, link, _ = how_to_look("postgresql://me:geheim@h/db", tmp_path / "m", "1", "abc")
    assert command.endswith('--backend-store-uri "$MLFLOW_TRACKING_URI"')
    assert link.split()[1].startswith("http://127.0.0.1:5000/#/")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_link_is_said_and_the_server_answers(tmp_path: Path, ending: signal.Signals) -> None:
    """Two lines and MLflow's own notice; a signal ends the server and everything that it started."""
    tracker = MlflowTracker(folder=tmp_path / "mlruns")
    handle = tracker.open_sweep(sweep_record(tmp_path))
    tracker.record_cell(handle, cell_record(tmp_path / "0"))
    tracker.close_sweep(handle, sweep_summary(tmp_path))
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
        link = process.stdout.readline()
        assert link.startswith(f"Newest sweep: http://127.0.0.1:{port}/#/experiments/")
        assert process.stdout.readline().startswith("MLflow on sqlite:///")
        health = f"http://127.0.0.1:{port}/health"
        assert any(why_unreachable(health, 10.0) == "" for _ in range(10_000))
    finally:
        process.send_signal(ending)
        rest, noise = process.communicate(timeout=120)
    assert (rest, process.returncode) == ("", 130)
    assert all(line.startswith("[MLflow] ") for line in noise.splitlines())
    assert why_unreachable(f"http://127.0.0.1:{port}/health", 2.0) != ""
