from __future__ import annotations

from pathlib import Path

import pytest
from mlflow import MlflowClient
from tracker_records import cell_record, sweep_record, sweep_summary

from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_ui import main, newest_link


def test_a_sweep_on_a_real_server(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What works on SQLite works over http: many params, artifacts, the view, links to the server."""
    tracker = MlflowTracker(uri=server)
    sweep = sweep_record(tmp_path)
    handle = tracker.open_sweep(sweep)
    params = {f"p{i}": "x" for i in range(150)}
    run_id = tracker.record_cell(handle, cell_record(tmp_path / "0", params=params))
    lines = tracker.close_sweep(handle, sweep_summary(tmp_path))
    client = MlflowClient(tracking_uri=server)
    run = client.get_run(run_id)
    assert run.info.status == "FINISHED"
    assert len(run.data.params) == 150
    assert [file.path for file in client.list_artifacts(run_id)] == ["config.yaml", "result.json"]
    assert client.get_run(handle["run_id"]).info.status == "FINISHED"
    assert lines[0].startswith(f"Leaderboard  {server}/#/experiments/")
    assert newest_link(client, server) == lines[0].split()[1]
    assert main([server, "5000"]) == 0
    assert capsys.readouterr().out == f"Newest sweep: {newest_link(client, server)}\n"
