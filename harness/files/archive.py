"""NumPy archives that are written aside and renamed, and never trusted when damaged."""

from __future__ import annotations

import io
import uuid
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

# The record at the end of a zip file without comment: its size, and where it counts the members.
_END = 22
_COUNT = slice(10, 12)


class DamagedArchiveError(Exception):
    """The file is not what was written; its message says what is wrong."""


def write_archive(path: Path, arrays: Mapping[str, Any]) -> None:
    """Writes the arrays by name, as ``write_bytes`` does."""
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_bytes(path, content.getvalue())


def write_bytes(path: Path, content: bytes) -> None:
    """Writes aside and renames, so that a file that exists is whole; makes its folder. Raises ``OSError``."""
    try:
        _write(path, content)
    except FileNotFoundError:
        # Somebody removed the folder as unused between two steps; it is not unused any more.
        _write(path, content)


def _write(path: Path, content: bytes) -> None:
    aside = path.with_name(f".{uuid.uuid4().hex}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        aside.write_bytes(content)
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise


def read_archive(path: Path) -> dict[str, Any]:
    """All arrays by name, their checksums verified. Raises ``DamagedArchiveError`` or ``OSError``."""
    content = path.read_bytes()
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = dict(archive.items())
    # What zipfile and NumPy raise when each single bit of a small archive is flipped, one after the other.
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        ValueError,
        KeyError,
        EOFError,
        RuntimeError,
    ) as error:
        raise DamagedArchiveError(str(error) or type(error).__name__) from error
    # A damaged directory of the archive may lose a member without any other sign.
    if len(arrays) != int.from_bytes(content[-_END:][_COUNT], "little"):
        raise DamagedArchiveError("it has lost a member")
    return arrays
