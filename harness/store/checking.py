"""Reads every shard and archive whole and says which are not what was written; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.files.archive import DamagedArchiveError, read_archive
from harness.progress import bar
from harness.store.shard import SUFFIX, DamagedShardError, Shard, rows_by_name
from harness.store.upkeep import Kept

# Rows of a shard that are checked at once: 100 MB of the widest vectors.
_ROWS = 8_192


class Damage(NamedTuple):
    """A file that is not what was written, and what is wrong with it."""

    file: Path
    reason: str


def damaged(items: Sequence[Kept]) -> Iterator[Damage]:
    """Reads all that these hold and gives every file whose checksum is wrong. What vanishes meanwhile is passed over."""
    files = _files(items)
    with bar("checking", len(files), "files") as progress:
        for file in files:
            try:
                reason = _shard(file) if file.suffix == SUFFIX else _archive(file)
            except FileNotFoundError:
                reason = ""
            except OSError as error:
                reason = f"it can't be read: {error.strerror}"
            if reason:
                yield Damage(file, reason)
            progress.update()


def checkable(items: Sequence[Kept]) -> int:
    """How many files ``damaged`` would read."""
    return len(_files(items))


def _files(items: Sequence[Kept]) -> list[Path]:
    files = [
        file
        for item in items
        for file in ([item.place] if item.place.is_file() else item.place.glob("[!.]*"))
    ]
    return sorted(file for file in files if file.suffix == ".npz" or rows_by_name(file))


def _shard(file: Path) -> str:
    try:
        shard = Shard(file, None)
        for start in range(0, len(shard), _ROWS):
            shard.read(np.arange(start, min(start + _ROWS, len(shard))))
    except (DamagedShardError, ValueError) as error:
        return str(error)
    return f"{shard.damaged} of {len(shard)} rows are wrong (checksum)" if shard.damaged else ""


def _archive(file: Path) -> str:
    try:
        read_archive(file)
    except DamagedArchiveError as error:
        return str(error)
    return ""
