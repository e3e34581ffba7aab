"""Golden sets: questions written by a model, imported, and checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import SettingError

if TYPE_CHECKING:
    from harness.cli.compose import Composed


def golden_file(made: Composed) -> Path:
    """The file of ``golden=file``. Raises ``SettingError`` when no questions can be written to it."""
    from harness.cli.values import check_plain_settings

    check_plain_settings(made.config)
    if made.choices["golden"] != "file":
        raise SettingError(
            f"golden={made.choices['golden']}: questions are written to a file. "
            "Use golden=file golden.path=FILE.",
            key="golden",
        )
    path = Path(str(made.config.golden.path)).expanduser()
    if path.parent.is_file() or path.is_dir() or path.suffix.lower() == ".gz":
        raise SettingError(
            f"golden.path={path} can't be written. Give a file that is not packed: golden.path=FILE.",
            key="golden.path",
        )
    return path
