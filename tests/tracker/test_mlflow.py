from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mlflow import MlflowClient
from mlflow.entities import Run
from tracker_records import DIGEST, cell_record, sweep_record, sweep_summary

from harness.errors import SettingError, StoreError
from harness.tracker.mlflow import MlflowTracker


class Recorded(NamedTuple):
    client: MlflowClient
    experiment: str
    parent: Run
    cell: Run
    failed: Run
    lines: list[str]
    folder: Path


def record(tracker: MlflowTracker, folder: Path) -> Recorded:
    """A sweep of one finished and one failed cell, its handle sent through JSON as between processes."""
    sweep = sweep_record(folder)
    handle = json.loads(json.dumps(tracker.open_sweep(sweep)))
    good = tracker.record_cell(handle, cell_record(folder / "0"))
    bad = tracker.record_cell(
        handle,
        cell_record(
            folder / "1", name="bge · 256", metrics={}, curves={}, note="", error="No weights. Download bge."
        ),
    )
    lines = tracker.close_sweep(handle, sweep_summary(folder, failed=1))
    client = MlflowClient(tracking_uri=handle["uri"])
    runs = [client.get_run(run) for run in (handle["run_id"], good, bad)]
    return Recorded(client, handle["experiment_id"], *runs, list(lines), folder)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "mlruns"


@pytest.fixture(scope="module")
def recorded(store: Path) -> Recorded:
    return record(MlflowTracker(folder=store), store.parent / "out")


def test_cells_are_children_of_the_sweep(recorded: Recorded) -> None:
    """One parent, one child per cell, findable by the parent's id."""
    found = recorded.client.search_runs(
        [recorded.experiment], f"tags.mlflow.parentRunId = '{recorded.parent.info.run_id}'"
    )
    assert {run.info.run_name for run in found} == {"minilm · 256", "bge · 256"}
    assert recorded.parent.info.run_name == "2 cells · model × chunk · 29 Nov 19:08"


def test_a_cell_shows_its_metrics_rounded_and_named(recorded: Recorded) -> None:
    """Four decimals, no undefined values, few names without a prefix."""
    metrics = recorded.cell.data.metrics
    assert metrics["recall_at_2000_tokens"] == 0.7624
    assert metrics["context_tokens"] == 1152.5
    assert "at_k/undefined" not in metrics
    assert len([name for name in metrics if "/" not in name]) <= 12
    assert recorded.cell.data.params == {"model": "minilm", "chunk": "256"}


def test_curves_have_the_cut_as_their_step(recorded: Recorded) -> None:
    """Only recall and nDCG are drawn over k."""
    history = recorded.client.get_metric_history(recorded.cell.info.run_id, "at_k/recall")
    assert [(point.step, point.value) for point in history] == [(1, 0.51), (3, 0.53), (10, 0.60)]
    assert "at_k/ndcg" in recorded.cell.data.metrics
    assert "at_k/hit" not in recorded.cell.data.metrics


def test_tags_carry_colour_description_and_the_whole_digest(recorded: Recorded) -> None:
    """What the UI reads from tags is there."""
    tags = recorded.cell.data.tags
    assert tags["mlflow.runColor"] == "#3772bb"
    assert tags["mlflow.note.content"] == "**minilm · 256**: fine."
    assert tags["golden_digest"] == DIGEST
    assert tags["primary"] == "recall_at_2000_tokens"


def test_the_golden_set_is_an_input_of_every_run(recorded: Recorded) -> None:
    """Name and a short digest stand in the datasets column of parent and cells."""
    for run in (recorded.parent, recorded.cell, recorded.failed):
        (dataset_input,) = run.inputs.dataset_inputs
        assert (dataset_input.dataset.name, dataset_input.dataset.digest) == ("handbook", "9f86d081884c")


def test_a_failed_cell_is_a_failed_run_with_its_message(recorded: Recorded) -> None:
    """The description of a failed cell is the message with its remedy."""
    assert recorded.cell.info.status == "FINISHED"
    assert recorded.failed.info.status == "FAILED"
    assert (
        recorded.failed.data.tags["mlflow.note.content"] == "**This cell failed.** No weights. Download bge."
    )
    assert recorded.failed.data.tags["verdict"] == "failed"


def test_the_parent_has_settings_description_and_files(recorded: Recorded) -> None:
    """The parent says what was swept, and is failed when a cell failed, like the exit code."""
    parent = recorded.parent
    assert parent.info.status == "FAILED"
    assert parent.data.params["axis.model"] == "minilm, bge"
    assert parent.data.params["corpus"] == "handbook"
    first, second, *_ = parent.data.tags["mlflow.note.content"].split("\n\n")
    assert first == "**minilm · 256** has the highest recall."
    assert second.startswith("[Leaderboard](#/experiments/")
    files = recorded.client.list_artifacts(parent.info.run_id)
    assert [file.path for file in files] == ["leaderboard.md"]


def test_the_command_is_a_tag_of_the_parent(tmp_path: Path, store: Path) -> None:
    """Not a setting: up to 5,000 characters are noted, without a password; other params stay params."""
    from dataclasses import replace

    sweep = sweep_record(tmp_path)
    command = "python -m harness tracker.uri=postgresql://me:geheim@h/d " + "x" * 6000
    tracker = MlflowTracker(folder=store)
    handle = tracker.open_sweep(
        replace(sweep, params={**sweep.params, "command": command, "chunker.overlap": "32"})
    )
    data = MlflowClient(tracking_uri=handle["uri"]).get_run(handle["run_id"]).data
    assert data.tags["harness.command"] == command.replace("geheim", "***")[:5000]
    assert "command" not in data.params
    assert data.params["chunker.overlap"] == "32"
    tracker.abort_sweep(handle, "")


def test_files_of_a_cell_become_artifacts_beside_the_store(recorded: Recorded, store: Path) -> None:
    """Result files are copied, hidden ones and logs are not."""
    files = recorded.client.list_artifacts(recorded.cell.info.run_id)
    assert [file.path for file in files] == ["config.yaml", "result.json"]
    copied = store / "artifacts" / recorded.cell.info.run_id / "artifacts" / "result.json"
    assert copied.is_file()


def test_the_printed_lines_open_the_saved_view(recorded: Recorded) -> None:
    """A command to start the UI, then links that go to the machine learning side and to this sweep's view."""
    command, board, charts = recorded.lines
    assert "--backend-store-uri" in command
    key = board.partition("viewStateShareKey=")[2]
    assert "workflowType=machine_learning" in board
    assert charts.endswith(f"{key}&compareRunsMode=CHART")
    tags = recorded.client.get_experiment(recorded.experiment).tags
    assert f"mlflow.sharedViewState.{key}" in tags


def test_the_saved_view_is_what_the_ui_reads(recorded: Recorded) -> None:
    """Valid JSON below the size of a tag: this sweep's cells, best first, with its columns and charts."""
    key = recorded.lines[1].partition("viewStateShareKey=")[2]
    text = recorded.client.get_experiment(recorded.experiment).tags[f"mlflow.sharedViewState.{key}"]
    view = json.loads(text)
    assert len(text) <= 20_000
    assert view["searchFilter"] == f"tags.mlflow.parentRunId = '{recorded.parent.info.run_id}'"
    assert (view["orderByKey"], view["orderByAsc"]) == ("metrics.`recall_at_2000_tokens`", False)
    assert view["selectedColumns"] == [
        "params.`model`",
        "metrics.`recall_at_2000_tokens`",
        "metrics.`health/truncated_tokens`",
        "tags.`verdict`",
    ]
    assert [chart["type"] for chart in view["compareRunCharts"]] == ["BAR", "SCATTER", "LINE"]
    sections = {section["uuid"]: section["name"] for section in view["compareRunSections"]}
    assert {sections[chart["metricSectionId"]] for chart in view["compareRunCharts"]} == {"Comparison"}


def test_the_primary_metric_is_logged_first(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One batch per cell, whose first metric is the one that decides; never one call per metric."""
    batches: list[dict[str, Any]] = []
    real = MlflowClient.log_batch

    def log_batch(self: MlflowClient, run_id: str, **parts: Any) -> Any:
        batches.append(parts)
        return real(self, run_id, **parts)

    tracker = MlflowTracker(folder=store)
    handle = tracker.open_sweep(sweep_record(tmp_path))
    monkeypatch.setattr(MlflowClient, "log_batch", log_batch)
    tracker.record_cell(handle, cell_record(tmp_path / "0"))
    (batch,) = batches
    assert batch["metrics"][0].key == "recall_at_2000_tokens"
    tracker.abort_sweep(handle, "")


def test_more_params_than_a_request_holds_are_sent_in_parts(tmp_path: Path, store: Path) -> None:
    """250 params, one of 7,000 characters, a description of 9,000, a curve of 1,200 points."""
    tracker = MlflowTracker(folder=store)
    handle = tracker.open_sweep(sweep_record(tmp_path))
    params = {f"p{i}": "x" for i in range(250)} | {"long": "y" * 7000}
    curve = {"recall": {k: k / 2000 for k in range(1, 1201)}}
    note = "\n".join(["line of a description"] * 450)
    run_id = tracker.record_cell(handle, cell_record(tmp_path / "0", params=params, curves=curve, note=note))
    client = MlflowClient(tracking_uri=handle["uri"])
    run = client.get_run(run_id)
    assert len(run.data.params) == 251
    assert len(run.data.params["long"]) == 6000
    assert len(client.get_metric_history(run_id, "at_k/recall")) == 1200
    assert len(run.data.tags["mlflow.note.content"]) <= 7500
    assert run.data.tags["mlflow.note.content"].endswith("the full text is in the artifacts.")
    tracker.abort_sweep(handle, "")


def test_an_aborted_sweep_never_stays_running(tmp_path: Path, store: Path) -> None:
    """The parent is failed with the reason, and a cell that was being written is killed."""
    tracker = MlflowTracker(folder=store)
    handle = tracker.open_sweep(sweep_record(tmp_path))
    client = MlflowClient(tracking_uri=handle["uri"])
    half = client.create_run(handle["experiment_id"], tags={"mlflow.parentRunId": handle["run_id"]})
    tracker.abort_sweep(handle, "Interrupted.")
    parent = client.get_run(handle["run_id"])
    assert parent.info.status == "FAILED"
    assert "Interrupted." in parent.data.tags["mlflow.note.content"]
    assert client.get_run(half.info.run_id).info.status == "KILLED"


def test_a_cell_that_cant_be_written_is_closed(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error halfway is a StoreError, and the run is failed instead of running for ever."""
    tracker = MlflowTracker(folder=store)
    handle = tracker.open_sweep(sweep_record(tmp_path))

    def full(self: object, *words: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        "mlflow.store.artifact.local_artifact_repo.LocalArtifactRepository.log_artifact", full
    )
    with pytest.raises(StoreError, match=r"No space left on device.*in the output folder"):
        tracker.record_cell(handle, cell_record(tmp_path / "0"))
    client = MlflowClient(tracking_uri=handle["uri"])
    (run,) = client.search_runs([handle["experiment_id"]], f"tags.mlflow.parentRunId = '{handle['run_id']}'")
    assert run.info.status == "FAILED"
    tracker.abort_sweep(handle, "")


def test_a_run_id_in_the_environment_changes_nothing(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLFLOW_RUN_ID would make MLflow's own functions write every cell into one run; it is taken away."""
    monkeypatch.setenv("MLFLOW_RUN_ID", "0" * 32)
    tracker = MlflowTracker(folder=store)
    handle = tracker.open_sweep(sweep_record(tmp_path))
    first, second = (tracker.record_cell(handle, cell_record(tmp_path / str(i))) for i in range(2))
    assert len({first, second, handle["run_id"], "0" * 32}) == 4
    assert "MLFLOW_RUN_ID" not in os.environ
    tracker.abort_sweep(handle, "")


def test_nothing_is_left_in_the_current_folder(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Recording a sweep writes no mlruns/ where the user happens to stand, and says nothing of its own."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    record(MlflowTracker(folder=store), tmp_path / "out")
    assert list(here.iterdir()) == []
    assert capfd.readouterr() == ("", "")


def test_an_empty_experiment_name_is_refused() -> None:
    """The setting is named in the message."""
    with pytest.raises(SettingError, match=r"tracker\.experiment is empty"):
        MlflowTracker(experiment=" ")


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that change the store, and the ends of their transactions, within the block."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    said: list[str] = []

    def executed(_: object, __: object, statement: str, *___: object) -> None:
        if not statement.startswith(("SELECT", "PRAGMA")):
            said.append(statement.split(maxsplit=1)[0])

    def committed(_: object) -> None:
        # A transaction that only read costs nothing.
        if said and said[-1] != "COMMIT":
            said.append("COMMIT")

    event.listen(Engine, "before_cursor_execute", executed)
    event.listen(Engine, "commit", committed)
    yield said
    event.remove(Engine, "before_cursor_execute", executed)
    event.remove(Engine, "commit", committed)


def test_a_cell_costs_five_writes(tmp_path: Path) -> None:
    """Run with its tags, params, metrics, input, end: each waits for the disk, so no sixth may creep in."""
    tracker = MlflowTracker(folder=tmp_path / "m")
    handle = tracker.open_sweep(sweep_record(tmp_path))
    tracker.record_cell(handle, cell_record(tmp_path / "0"))
    with counted() as said:
        tracker.record_cell(handle, cell_record(tmp_path / "1"))
    assert said.count("COMMIT") == 5
    tracker.abort_sweep(handle, "")
