"""The sweep as a plugin of Hydra: any launcher gets exactly the cells to run."""

from __future__ import annotations

import json
import pickle

import mlflow
import pytest

from harness.cell.build import Shared, of_process
from harness.sweep.cell import CellTask


def test_another_process_gets_the_task_without_the_cells_and_shares_what_is_there():
    """A worker that runs several cells loads documents and models once."""
    task = CellTask([object()], Shared())
    first, second = (pickle.loads(pickle.dumps(task)) for _ in range(2))

    assert first.cells == []
    assert first._shared is second._shared is of_process()


@pytest.mark.models
def test_processes_of_joblib_run_the_cells_and_nothing_else(workplace):
    """Two worker processes: one parent run with three children, the metrics of a sweep in one process, and what bm25 ignores makes no cell."""
    words = ("-m", "model=wordllama,minilm", "retriever=bm25,dense", "chunk=16")
    here = workplace.sweep(*words, "tracker=none")
    assert here.returncode == 0, here.stderr
    expected = {result["name"]: result["metrics"] for result in workplace.results()}
    done = workplace.sweep(*words, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert done.returncode == 0, done.stderr

    results = workplace.results()[len(expected) :]
    assert (
        {result["name"] for result in results}
        == set(expected)
        == {"bm25", "wordllama · dense", "minilm · dense"}
    )
    assert [result["metrics"] for result in results] == [expected[result["name"]] for result in results]
    store = f"sqlite:///{workplace.root}/mlruns/mlflow.db"
    runs = mlflow.MlflowClient(store).search_runs(["1"])
    parents = [run.info.run_id for run in runs if "mlflow.parentRunId" not in run.data.tags]
    assert [run.data.tags.get("mlflow.parentRunId") for run in runs].count(*parents) == 3
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert all("corpus_digest" in run.data.tags for run in runs if "mlflow.parentRunId" in run.data.tags)
    shared = (
        mlflow.MlflowClient(store).get_experiment("1").tags[f"mlflow.sharedViewState.sweep-{parents[0][:12]}"]
    )
    shown = json.loads(shared)["selectedColumns"]
    # The score first, then verdict and costs; the settings follow, but not the chunk size, which all share.
    assert shown[0] == json.loads(shared)["orderByKey"]
    assert (
        shown.index("tags.`verdict`") < shown.index("metrics.`query_ms_p95`") < shown.index("params.`model`")
    )
    assert [column for column in shown if column.startswith("params.")] == [
        "params.`model`",
        "params.`retriever`",
    ]
