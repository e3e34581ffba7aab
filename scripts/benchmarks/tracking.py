"""What MLflow costs: 200 cells of 60 metrics on SQLite."""

from __future__ import annotations

import json
import time

from bench import row


def tracking(place, _repeat):
    """Seconds of 200 calls of the tracker, with the files of a real cell."""
    from harness.tracker import CellRecord, SweepRecord, SweepSummary
    from harness.tracker.mlflow import MlflowTracker

    folder = place.root / "cell"
    folder.mkdir()
    (folder / "result.json").write_text(json.dumps({"schema": 1}))
    tracker = MlflowTracker(uri=f"sqlite:///{place.root}/tracking.db", folder=place.root)
    sweep = SweepRecord("200 cells", place.root, {"chunk": [str(i) for i in range(200)]}, "recall_at_5", 200)
    handle = tracker.open_sweep(sweep)
    metrics = {"recall_at_5": 0.5} | {f"some_metric_at_{i}": i / 60 for i in range(59)}
    started = time.perf_counter()
    for i in range(200):
        params = {"chunk": str(i)} | {f"p{j}": "value" for j in range(29)}
        tracker.record_cell(handle, CellRecord(str(i), folder, params, metrics))
    tracker.close_sweep(handle, SweepSummary("done", [], ["params.chunk"], "context_tokens_at_5", 0))
    taken = time.perf_counter() - started
    row("MLflow, 200 cells x 60 metrics", "10 s", f"{taken:.1f} s", taken < 10)
