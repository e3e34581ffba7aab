from __future__ import annotations

from pathlib import Path

from mlflow import MlflowClient
from tracker_records import cell_record, sweep_record

from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_artifacts import LARGEST_MB, ready
from harness.tracker.mlflow_store import connected


def test_large_files_stay_in_the_output_folder(tmp_path: Path) -> None:
    """Nothing above 5 MB is copied but the rankings; the description names what is missing."""
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
    (tmp_path / "report.html").write_bytes(b"x")
    with ready([tmp_path / "report.html"], texts=True) as files:
        assert files == ([tmp_path / "report.html"], [])


def test_without_texts_no_text_leaves_the_output_folder(tmp_path: Path) -> None:
    """tracker.texts=false drops files that may hold text and columns of text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    cell = cell_record(tmp_path / "0")
    table = pa.table(
        {"question_id": ["q1"], "question": ["What is secret?"], "found": [True], "recall_at_5": [0.5]}
    )
    pq.write_table(table, cell.folder / "questions.parquet")
    (cell.folder / "report.html").write_text("secret", encoding="utf-8")
    tracker = MlflowTracker(folder=tmp_path / "m", texts=False)
    handle = tracker.open_sweep(sweep_record(tmp_path))
    run_id = tracker.record_cell(handle, cell)
    client = MlflowClient(tracking_uri=handle["uri"])
    names = [file.path for file in client.list_artifacts(run_id)]
    assert names == ["config.yaml", "questions.parquet", "result.json"]
    copied = tmp_path / "m" / "artifacts" / run_id / "artifacts" / "questions.parquet"
    assert pq.read_table(copied).column_names == ["question_id", "found", "recall_at_5"]
    tracker.abort_sweep(handle, "")
