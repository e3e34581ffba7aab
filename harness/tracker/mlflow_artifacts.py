"""Files of a cell or a sweep as artifacts of its run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlflow import MlflowClient

# Columns of questions.parquet that hold words of documents or questions are all those of strings, but for these.
_WORDLESS = {"question_id", "cluster", "cause", "kind", "source"}
# Files that hold numbers, settings and ids only.
_WORDLESS_FILES = {"result.json", "rankings.npz", "config.yaml", "sweep.json", "leaderboard.md"}


def cell_files(folder: Path) -> list[Path]:
    """The files that lie directly in a cell's folder, by name; hidden, temporary and log files left out."""
    if not folder.is_dir():
        return []
    skipped = (".tmp", ".log", ".lock", ".part")
    return sorted(f for f in folder.iterdir() if f.is_file() and f.name[0] != "." and f.suffix not in skipped)


def without_text(path: Path) -> bool:
    """Whether a file of this name holds no text of documents or questions."""
    return path.name in _WORDLESS_FILES or path.suffix == ".png"


def log_files(client: MlflowClient, run_id: str, files: Iterable[Path], *, texts: bool) -> None:
    """Copies the files to the run; with ``texts`` false only wordless ones, and question tables without their words."""
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        for file in files:
            if texts or without_text(file):
                client.log_artifact(run_id, str(file))
            elif file.suffix == ".parquet":
                client.log_artifact(run_id, str(_wordless(file, Path(scratch))))


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
