from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from mlflow import MlflowClient
from tracker_records import cell_record, sweep_record

from harness.tracker.mlflow import MlflowTracker
from harness.tracker.mlflow_payload import cell_tags, sweep_tags

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROVENANCE = {"version": "0.1.0", "git_commit": COMMIT, "git_dirty": "true"}
TAGS = {"harness.version": "0.1.0", "mlflow.source.git.commit": COMMIT, "harness.git_dirty": "true"}


def test_version_and_commit_are_tags_of_every_run(tmp_path: Path) -> None:
    """The commit has the name that MLflow's UI shows; a failed cell has it too."""
    tracker = MlflowTracker(folder=tmp_path / "m")
    handle = tracker.open_sweep(replace(sweep_record(tmp_path), provenance=PROVENANCE))
    client = MlflowClient(tracking_uri=handle["uri"])
    cells = [
        tracker.record_cell(handle, cell_record(tmp_path / str(error), provenance=PROVENANCE, error=error))
        for error in (None, "No weights.")
    ]
    for run in (handle["run_id"], *cells):
        tags = client.get_run(run).data.tags
        assert {name: tags[name] for name in TAGS} == TAGS
    tracker.abort_sweep(handle, "")


@pytest.mark.parametrize(("provenance", "tags"), [({}, {}), ({"version": "1"}, {"harness.version": "1"})])
def test_outside_of_git_there_is_no_commit(
    provenance: dict[str, str], tags: dict[str, str], tmp_path: Path
) -> None:
    """A folder without a repository has neither a commit nor a dirty mark."""
    sweep = replace(sweep_record(tmp_path), provenance=provenance)
    cell = cell_tags(cell_record(tmp_path / "0", provenance=provenance), {}, "abc")
    for found in (sweep_tags(sweep), {tag.key: tag.value for tag in cell}):
        assert {name: value for name, value in found.items() if name in TAGS} == tags
