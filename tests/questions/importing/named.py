"""Files of questions, written and read as rows under our names."""

from __future__ import annotations

import json
from pathlib import Path

from harness.questions.importing.recognise import named_rows


def rows(path: Path) -> list[dict]:
    """The rows of a file under our names."""
    return [dict(fields) for _, fields in named_rows(path)[0].rows.named]


def refused(path: Path) -> dict[str, str]:
    """Place and reason of the rows that can't be read."""
    return {row.row.where: row.reason for row in named_rows(path)[0].rows.refused}


def write(tmp_path: Path, name: str, content: object) -> Path:
    """A file with this text, or this value as JSON."""
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path
