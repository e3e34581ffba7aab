"""The files of a sweep out of MLflow, laid out as its own folder was: for sweeps of another machine."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import StoreError
from harness.tracker import Found
from harness.tracker.mlflow_runs import cells_of
from harness.tracker.mlflow_store import connected, store_errors

if TYPE_CHECKING:
    from mlflow.entities import Run

SWEEP_FILE = "sweep.json"
SWEEP_FILES = (SWEEP_FILE, "evidence.jsonl.gz", "texts.json.gz")
CELL_FILES = ("result.json", "config.yaml", "questions.parquet", "rankings.npz")
_REMEDY = "Its files are what is missing here; start or mend the store."
_AT_ONCE = 8


def fetch(uri: str, found: Found, place: Path) -> None:
    """Copies the files of the sweep to ``place``, aside first; a copy of the same cells is not made again."""
    client = connected(uri)
    with store_errors(uri, _REMEDY):
        parent = client.get_run(found.run_id)
        cells = sorted(
            cells_of(client, found.experiment_id, found.run_id), key=lambda run: run.info.start_time
        )
        if _is_there(place, cells):
            return
        aside = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            _copy(uri, parent, SWEEP_FILES, aside)
            if not (aside / SWEEP_FILE).is_file():
                raise StoreError(
                    f"The sweep '{found.name}' has no {SWEEP_FILE} among its artifacts: it was stopped before its end, or the file was "
                    f"deleted, and {found.folder} is not on this machine. Run the sweep again.",
                    where=found.uri,
                )
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                list(pool.map(lambda i: _cell(uri, cells[i], aside / str(i)), range(len(cells))))
            shutil.rmtree(place, ignore_errors=True)
            aside.replace(place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _cell(uri: str, run: Run, folder: Path) -> None:
    """The files of one cell; what is no whole cell gets the reason instead."""
    _copy(uri, run, CELL_FILES, folder)
    _write(folder / "run.json", {"run_id": run.info.run_id, "track_seconds": 0.0})
    missing = [name for name in CELL_FILES if not (folder / name).is_file()]
    if run.info.status == "FINISHED" and not missing:
        return
    (folder / "result.json").unlink(missing_ok=True)
    if run.info.status == "FINISHED":
        error = f"Its {' and '.join(missing)} can't be found among the artifacts of run {run.info.run_id[:12]}; deleted?"
    else:
        note = run.data.tags.get("mlflow.note.content", "").partition("\n\n")[0]
        error = note.removeprefix("**This cell failed.** ") or f"Its run ended as {run.info.status}."
    _write(folder / "failure.json", {"name": run.info.run_name, "error": error})


def _copy(uri: str, run: Run, names: Sequence[str], folder: Path) -> None:
    """Copies those of the files that are among the run's artifacts."""
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    folder.mkdir(parents=True, exist_ok=True)
    repository = get_artifact_repository(run.info.artifact_uri, tracking_uri=uri)
    there = {file.path for file in repository.list_artifacts()}
    for name in names:
        if name in there:
            repository.download_artifacts(name, dst_path=str(folder))  # type: ignore[no-untyped-call]


def _is_there(place: Path, cells: Sequence[Run]) -> bool:
    copied = [json.loads(file.read_text(encoding="utf-8"))["run_id"] for file in place.glob("*/run.json")]
    return (place / SWEEP_FILE).is_file() and sorted(copied) == sorted(run.info.run_id for run in cells)


def _write(file: Path, content: dict[str, Any]) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
