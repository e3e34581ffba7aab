"""Artifacts in MLflow: files of cells and sweeps, copied there and back, and the registered model."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.tracker.mlflow_store import connected, store_errors

if TYPE_CHECKING:
    from mlflow.entities import Run

ALIAS = "champion"
# A digest of what is deployed, as a tag of its version.
CONFIGURATION = "configuration"
# The string columns of questions.parquet that hold no text of documents or questions.
_TEXT_FREE_COLUMNS = {"question_id", "cluster", "cause", "kind", "source"}
# Files that hold numbers, settings and ids only.
_TEXT_FREE_FILES = {
    "result.json",
    "rankings.npz",
    "config.yaml",
    "sweep.json",
    "leaderboard.md",
    "evidence.jsonl.gz",
}


def cell_files(folder: Path) -> list[Path]:
    """The files directly in a cell's folder, by name; hidden, temporary and log files left out."""
    if not folder.is_dir():
        return []
    skipped = (".tmp", ".log", ".lock", ".part")
    return sorted(f for f in folder.iterdir() if f.is_file() and f.name[0] != "." and f.suffix not in skipped)


@contextmanager
def ready(files: Iterable[Path], *, texts: bool) -> Iterator[list[Path]]:
    """The files that may be copied.

    With ``texts`` false only files without text, and question tables without their columns of text, which
    exist while the block runs.
    """
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        yield [
            file if texts or file.name in _TEXT_FREE_FILES else _table_without_text(file, Path(scratch))
            for file in files
            if texts or file.name in _TEXT_FREE_FILES or file.suffix == ".parquet"
        ]


def log_files(uri: str, place: str, paths: Iterable[Path]) -> None:
    """Copies files to ``place``, the artifact address of a run in the store ``uri``.

    MLflow's client would ask the store for that address, once per run.
    """
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    repository = get_artifact_repository(place, tracking_uri=uri)
    for path in paths:
        repository.log_artifact(str(path))  # type: ignore[no-untyped-call]


def download(uri: str, run: Run, names: Sequence[str], folder: Path) -> None:
    """Copies those of the files that are among the run's artifacts into ``folder``."""
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    folder.mkdir(parents=True, exist_ok=True)
    repository = get_artifact_repository(run.info.artifact_uri, tracking_uri=uri)
    there = {file.path for file in repository.list_artifacts()}
    for name in names:
        if name in there:
            repository.download_artifacts(name, dst_path=str(folder))  # type: ignore[no-untyped-call]


def champion(uri: str, name: str, configuration: str) -> int | None:
    """The version of the model ``name`` with the alias ``champion``, if it has this configuration."""
    client = connected(uri)
    with store_errors(uri):
        if not client.search_registered_models(f"name = '{name}'"):
            return None
        aliases = client.get_registered_model(name).aliases
        if ALIAS not in aliases:
            return None
        version = client.get_model_version(name, aliases[ALIAS])
        return int(version.version) if version.tags.get(CONFIGURATION) == configuration else None


def register(
    uri: str, run_id: str, name: str, code: Path, deployment: Path, question: str, about: Mapping[str, str]
) -> int:
    """Registers the folder ``deployment`` as a model with the alias ``champion``; gives its version.

    ``code`` is the file that MLflow loads the model from, ``question`` the input example. ``about``: tags of
    the version, which its description lists. The run ends when it did before. Raises ``StoreError``.
    """
    client = connected(uri)
    with store_errors(uri), _global_address(uri):
        import mlflow

        before = client.get_run(run_id).info
        with mlflow.start_run(run_id=run_id, log_system_metrics=False):
            logged = mlflow.pyfunc.log_model(
                name=ALIAS,
                python_model=str(code),
                artifacts={"deployment": str(deployment)},
                input_example=[question],
                pip_requirements=["retrieval-harness", f"mlflow=={mlflow.__version__}"],
            )
        client.set_terminated(run_id, before.status, before.end_time)
        if not client.search_registered_models(f"name = '{name}'"):
            client.create_registered_model(name)
        described = "\n".join(f"- {key}: {value}" for key, value in about.items() if key != CONFIGURATION)
        made = client.create_model_version(
            name, logged.model_uri, run_id, tags=dict(about), description=described, model_id=logged.model_id
        )
        client.set_registered_model_alias(name, ALIAS, str(made.version))
        return int(made.version)


@contextmanager
def _global_address(uri: str) -> Iterator[None]:
    """Lets MLflow's own functions use ``uri``; they know one address for the whole process."""
    import mlflow

    before = os.environ.get("MLFLOW_TRACKING_URI")
    mlflow.set_tracking_uri(uri)
    try:
        yield
    finally:
        mlflow.set_tracking_uri("")
        os.environ.pop("MLFLOW_TRACKING_URI", None)
        if before is not None:
            os.environ["MLFLOW_TRACKING_URI"] = before


def _table_without_text(table: Path, folder: Path) -> Path:
    """A copy of a Parquet table with its numbers, truth values and the known columns of ids and kinds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    numeric = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating)
    content = pq.read_table(table)
    columns = [
        field.name
        for field in content.schema
        if field.name in _TEXT_FREE_COLUMNS or any(is_kind(field.type) for is_kind in numeric)
    ]
    path = folder / table.name
    pq.write_table(content.select(columns), path)
    return path
