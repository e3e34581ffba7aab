from __future__ import annotations

import json
from pathlib import Path

from tracker_records import cell_record, sweep_record, sweep_summary

from harness.tracker.none import NoTracker


def test_nothing_is_recorded(tmp_path: Path) -> None:
    """Without a tracker the sweep runs the same and says at its end that nothing was tracked."""
    tracker = NoTracker()
    sweep = sweep_record(tmp_path)
    handle = json.loads(json.dumps(tracker.open_sweep(sweep)))
    assert tracker.record_cell(handle, cell_record(tmp_path / "0")) == "minilm · 256"
    (line,) = tracker.close_sweep(handle, sweep_summary(tmp_path))
    assert "tracker=none" in line
    tracker.abort_sweep(handle, "")
