"""Files of a cell or a sweep as artifacts of its run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

# The UI shows no file above it, and a sweep of hundreds of cells would fill the store.
LARGEST_MB = 5.0
# Compressed already, and what a later comparison needs; they are copied whatever their size.
_ALWAYS = {"rankings.npz", "questions.parquet", "evidence.jsonl.gz"}

# Columns of questions.parquet that hold words of documents or questions are all those of strings, but for these.
_WORDLESS = {"question_id", "cluster", "cause", "kind", "source"}
# Files that hold numbers, settings and ids only.
_WORDLESS_FILES = {
    "result.json",
    "rankings.npz",
    "config.yaml",
    "sweep.json",
    "leaderboard.md",
    "evidence.jsonl.gz",
}


def cell_files(folder: Path) -> list[Path]:
    """The files that lie directly in a cell's folder, by name; hidden, temporary and log files left out."""
    if not folder.is_dir():
        return []
    skipped = (".tmp", ".log", ".lock", ".part")
    return sorted(f for f in folder.iterdir() if f.is_file() and f.name[0] != "." and f.suffix not in skipped)


def without_text(path: Path) -> bool:
    """Whether a file of this name holds no text of documents or questions."""
    return path.name in _WORDLESS_FILES or path.suffix == ".png"


class Ready(NamedTuple):
    """Files to be copied, and the names and sizes of those that are too large."""

    paths: Sequence[Path]
    left_out: Sequence[str]


@contextmanager
def ready(files: Iterable[Path], *, texts: bool) -> Iterator[Ready]:
    """The files that may be copied, at most 5 MB each but for rankings and questions.

    With ``texts`` false only wordless ones, and question tables without their words, which exist while the block runs.
    """
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        allowed = [
            file if texts or without_text(file) else _wordless(file, Path(scratch))
            for file in files
            if texts or without_text(file) or file.suffix == ".parquet"
        ]
        megabytes = {file: file.stat().st_size / 1e6 for file in allowed}
        large = [file for file in allowed if megabytes[file] > LARGEST_MB and file.name not in _ALWAYS]
        yield Ready(
            [file for file in allowed if file not in large],
            [f"{file.name} ({megabytes[file]:.1f} MB)" for file in large],
        )


def log_files(uri: str, place: str, paths: Iterable[Path]) -> None:
    """Copies files to ``place``, the artifact address of a run in the store ``uri``.

    MLflow's client would ask the store for that address, once per run.
    """
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    repository = get_artifact_repository(place, tracking_uri=uri)
    for path in paths:
        repository.log_artifact(str(path))  # type: ignore[no-untyped-call]


def _wordless(table: Path, folder: Path) -> Path:
    """A copy of a Parquet table that keeps numbers, truth values and the known columns of ids and kinds."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def is_wordless(field: pa.Field) -> bool:
        kind = field.type
        return (
            field.name in _WORDLESS
            or pa.types.is_boolean(kind)
            or pa.types.is_integer(kind)
            or pa.types.is_floating(kind)
        )

    content = pq.read_table(table)
    kept: Sequence[str] = [field.name for field in content.schema if is_wordless(field)]
    path = folder / table.name
    pq.write_table(content.select(kept), path)
    return path
