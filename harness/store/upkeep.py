"""The content of the cache folder: list it, check it, and remove what was not used for long.

A sweep may run meanwhile. An item is renamed before it is removed, so a reader finds all of it or nothing.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.errors import StoreError
from harness.files.atomic import remove
from harness.progress import bar
from harness.store.arrays import NOTE as RANKING_NOTE
from harness.store.arrays import DamagedArchiveError, read_archive
from harness.store.embedding_store import NOTE as EMBEDDING_NOTE
from harness.store.shard import SUFFIX, DamagedShardError, Shard, rows_by_name

EMBEDDINGS, RANKINGS, TOKENS = "embeddings", "rankings", "tokens"
# Rows of a shard that are checked at once: 100 MB of the widest vectors.
_ROWS = 8_192
_DAY = 24 * 3600.0


class CacheItem(NamedTuple):
    """A file or folder that is removed whole.

    ``kind``: the folder that holds it. ``size`` in bytes. ``idle``: days since it was last used. ``name``:
    its model's, empty without a model. ``role``, ``window`` (tokens, None without limit) and ``texts`` are
    those of embeddings.
    """

    place: Path
    kind: str
    size: int
    idle: float
    name: str = ""
    role: str = ""
    window: int | None = None
    texts: int = 0


class OtherFolder(NamedTuple):
    """A file or folder that is never pruned, since it is small or expensive to make; ``size`` in bytes."""

    label: str
    number: int
    size: int


def cache_items(cache: Path) -> list[CacheItem]:
    """Embeddings by model and role, then rankings, then token maps. Raises ``StoreError`` for a file."""
    if cache.exists() and not cache.is_dir():
        raise StoreError(f"{cache} is a file; cache= takes a folder.", where=cache)
    return [*_embeddings(cache), *_simple(cache, RANKINGS), *_simple(cache, TOKENS)]


def others(cache: Path) -> list[OtherFolder]:
    """What is never pruned, by the name of its folder, with the number of its entries."""
    return [
        OtherFolder(place.name.replace("_", " "), len(_entries(place)) or 1, measure(place)[0])
        for place in _entries(cache)
        if place.name not in {EMBEDDINGS, RANKINGS, TOKENS}
    ]


def prune(cache: Path, items: Sequence[CacheItem], days: int) -> list[CacheItem]:
    """Removes the items that were idle for at least ``days`` days, and gives them. Raises ``StoreError``."""
    # Measured again: a sweep may have used it since it was listed.
    gone = [item for item in items if _idle(measure(item.place)[1]) >= days and _remove(item.place)]
    # Left by a process that was killed between renaming and removing.
    for kind in (EMBEDDINGS, RANKINGS, TOKENS):
        for rest in (cache / kind).glob(".*.removed"):
            shutil.rmtree(rest, ignore_errors=True)
    return gone


def _embeddings(cache: Path) -> list[CacheItem]:
    found = []
    for place in _entries(cache / EMBEDDINGS):
        note = _note(place / EMBEDDING_NOTE)
        window = note.get("window")
        size, used = measure(place)
        found.append(
            CacheItem(
                place,
                EMBEDDINGS,
                size,
                _idle(used),
                str(note.get("name") or f"{place.name} (no {EMBEDDING_NOTE})"),
                str(note.get("role") or "?"),
                window if isinstance(window, int) else None,
                sum(rows_by_name(file) for file in place.glob(f"*{SUFFIX}")),
            )
        )
    return sorted(found, key=lambda item: (item.name.casefold(), item.role, item.place))


def _simple(cache: Path, kind: str) -> list[CacheItem]:
    found = []
    for place in _entries(cache / kind):
        model = _note(place / RANKING_NOTE).get("model") if kind == RANKINGS else None
        name = str(model.get("name", "")) if isinstance(model, dict) else ""
        size, used = measure(place)
        found.append(CacheItem(place, kind, size, _idle(used), name))
    return found


def _entries(folder: Path) -> list[Path]:
    """The entries of the folder, without those being written or removed."""
    return sorted(place for place in folder.glob("*") if not place.name.startswith("."))


def _note(file: Path) -> dict[str, Any]:
    try:
        note = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def _idle(used: float) -> float:
    return max(0.0, time.time() - used) / _DAY


def _remove(place: Path) -> bool:
    """Whether it existed."""
    try:
        return remove(place)
    except OSError as error:
        raise StoreError(
            f"{place} can't be removed ({error.strerror or error}). Remove it as its owner, or when no "
            "sweep uses it.",
            where=place,
        ) from error


def measure(place: Path) -> tuple[int, float]:
    """Bytes of a file or of all files below a folder, and the newest time of change in seconds since 1970.

    0 bytes and 0.0 for what does not exist any more.
    """
    size, used = 0, 0.0
    for path in (place, *place.rglob("*")):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        size += 0 if path.is_dir() else stat.st_size
        used = max(used, stat.st_mtime)
    return size, used


def checkable(items: Sequence[CacheItem]) -> list[Path]:
    """The files of the items that have checksums."""
    files = [
        file
        for item in items
        for file in ([item.place] if item.place.is_file() else item.place.glob("[!.]*"))
    ]
    return sorted(file for file in files if file.suffix == ".npz" or rows_by_name(file))


def damaged(files: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Reads the files; gives the damaged ones and what is wrong. Files removed meanwhile are skipped."""
    with bar("checking", len(files), "files") as progress:
        for file in files:
            if reason := _damage(file):
                yield file, reason
            progress.update()


def _damage(file: Path) -> str:
    try:
        if file.suffix != SUFFIX:
            read_archive(file)
            return ""
        shard = Shard(file, None)
        for start in range(0, len(shard), _ROWS):
            shard.read(np.arange(start, min(start + _ROWS, len(shard))))
    except FileNotFoundError:
        return ""
    except (DamagedArchiveError, DamagedShardError, ValueError) as error:
        return str(error)
    except OSError as error:
        return f"it can't be read: {error.strerror}"
    return f"wrong rows (checksum): {shard.damaged} of {len(shard)}" if shard.damaged else ""
