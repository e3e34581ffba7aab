"""The cached items as a table, and the damaged files among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.progress import bar
from harness.store.arrays import DamagedArchiveError, read_archive
from harness.store.shard import SUFFIX, DamagedShardError, Shard, rows_by_name
from harness.store.upkeep import EMBEDDINGS, RANKINGS, TOKENS, CacheItem

# Rows of a shard that are checked at once: 100 MB of the widest vectors.
_ROWS = 8_192


def total_megabytes(items: Sequence[CacheItem], rest: Sequence[tuple[str, int, int]]) -> str:
    """The size of everything listed."""
    return megabytes(sum(item.size for item in items) + sum(size for _, _, size in rest))


def rows(items: Sequence[CacheItem], rest: Sequence[tuple[str, int, int]]) -> Iterator[tuple[str, ...]]:
    """Name, role, window, number, MB and days idle of each space of embeddings and each other kind."""
    shown = [item for item in items if item.kind == EMBEDDINGS]
    alike = Counter(item[4:7] for item in shown)
    for item in shown:
        # Models that differ in weights or prompts only are told apart by their folders.
        name = f"{item.name} {item.place.name[:6]}" if alike[item[4:7]] > 1 else item.name
        window = "-" if item.window is None else str(item.window)
        yield name, item.role, window, f"{item.texts:,}", megabytes(item.size), str(int(item.idle))
    for kind, label in ((RANKINGS, "rankings"), (TOKENS, "token maps")):
        if some := [item for item in items if item.kind == kind]:
            days = sorted({int(min(item.idle for item in some)), int(max(item.idle for item in some))})
            size = sum(item.size for item in some)
            yield label, "", "", f"{len(some):,}", megabytes(size), "-".join(map(str, days))
    for label, number, size in rest:
        yield label, "", "", f"{number:,}", megabytes(size), ""


def megabytes(size: int) -> str:
    """A size in bytes as MB (10^6 bytes) with one decimal."""
    return f"{size / 1e6:,.1f}"


class DamagedFile(NamedTuple):
    """A file that is not what was written, and what is wrong with it."""

    file: Path
    reason: str


def damaged(items: Sequence[CacheItem]) -> Iterator[DamagedFile]:
    """Reads all files of these items and gives the damaged ones; files removed meanwhile are skipped."""
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
                yield DamagedFile(file, reason)
            progress.update()


def checkable(items: Sequence[CacheItem]) -> int:
    """How many files ``damaged`` would read."""
    return len(_files(items))


def _files(items: Sequence[CacheItem]) -> list[Path]:
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
