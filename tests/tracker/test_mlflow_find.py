"""Files of a sweep out of a real server: what a machine that did not run it can read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tracker_records import cell_record, sweep_record, sweep_summary

from harness.errors import SettingError, StoreError
from harness.tracker.mlflow import MlflowTracker

CELL_FILES = ("result.json", "config.yaml", "questions.parquet", "rankings.npz")


def test_a_sweep_is_fetched_from_a_server(server: str, tmp_path: Path) -> None:
    """Found as the newest and by the id of a cell; all files arrive whole, failures with their message."""
    tracker = MlflowTracker(uri=server, experiment="fetched")
    sweep = sweep_record(tmp_path)
    handle = tracker.open_sweep(sweep)
    (tmp_path / "sweep.json").write_text('{"schema": 3}', encoding="utf-8")
    folder = tmp_path / "0"
    folder.mkdir()
    content = {name: f"{name} of the cell".encode() for name in CELL_FILES}
    for name, data in content.items():
        (folder / name).write_bytes(data)
    record = cell_record(tmp_path / "record", name="good")
    run_id = tracker.record_cell(handle, replace(record, folder=folder))
    failed = replace(record, folder=tmp_path / "none", name="bad", error="The model is gone. Install it.")
    failed_id = tracker.record_cell(handle, failed)
    with pytest.raises(StoreError, match="is still running"):
        tracker.find("latest")
    tracker.close_sweep(handle, replace(sweep_summary(tmp_path), files=[tmp_path / "sweep.json"], failed=1))

    found = tracker.find("latest")
    assert found is not None
    assert (found.run_id, found.name, found.uri) == (handle["run_id"], sweep.name, server)
    assert found.folder == tmp_path
    assert tracker.find(failed_id[:8]) == tracker.find(sweep.name) == found
    with pytest.raises(SettingError, match="no sweep of this name or id"):
        tracker.find("something else")
    place = tmp_path / "copied" / found.run_id
    tracker.fetch(found, place)
    cells = {json.loads(file.read_text())["run_id"]: file.parent for file in place.glob("*/run.json")}
    assert set(cells) == {run_id, failed_id}
    assert {name: (cells[run_id] / name).read_bytes() for name in CELL_FILES} == content
    assert json.loads((cells[failed_id] / "failure.json").read_text()) == {
        "name": "bad",
        "error": "The model is gone. Install it.",
    }
    assert [file.name for file in (tmp_path / "copied").iterdir()] == [found.run_id]
