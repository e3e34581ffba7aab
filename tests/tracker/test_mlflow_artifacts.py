from __future__ import annotations

from pathlib import Path

from mlflow import MlflowClient
from tracker_records import cell_record, sweep_record

from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_artifacts import ready


def test_with_texts_every_file_is_ready(tmp_path: Path) -> None:
    """Nothing is left out without need."""
    (tmp_path / "report.html").write_bytes(b"x")
    with ready([tmp_path / "report.html"], texts=True) as files:
        assert files == [tmp_path / "report.html"]


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
