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

_KINDS = EMBEDDINGS, RANKINGS, TOKENS = "embeddings", "rankings", "tokens"
_NOTES = {EMBEDDINGS: EMBEDDING_NOTE, RANKINGS: RANKING_NOTE}
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


def cache_items(cache: Path) -> list[CacheItem]:
    """Embeddings by model and role, then rankings, then token maps. Raises ``StoreError`` for a file."""
    if cache.exists() and not cache.is_dir():
        raise StoreError(f"{cache} is a file; cache= takes a folder.", where=cache)
    found = [_item(kind, place) for kind in _KINDS for place in _entries(cache / kind)]
    return sorted(
        found, key=lambda item: (_KINDS.index(item.kind), item.name.casefold(), item.role, item.place)
    )


def others(cache: Path) -> list[CacheItem]:
    """What is never pruned, since it is small or expensive to make; ``texts`` counts its entries."""
    found = [place for place in _entries(cache) if place.name not in _KINDS]
    return [
        CacheItem(
            place, "", measure(place)[0], 0.0, place.name.replace("_", " "), texts=len(_entries(place)) or 1
        )
        for place in found
    ]


def prune(cache: Path, items: Sequence[CacheItem], days: int) -> list[CacheItem]:
    """Removes the items that were idle for at least ``days`` days, and gives them. Raises ``StoreError``."""
    # Measured again: a sweep may have used it since it was listed.
    gone = [item for item in items if _idle(measure(item.place)[1]) >= days and _remove(item.place)]
    # Left by a process that was killed between renaming and removing.
    for kind in _KINDS:
        for rest in (cache / kind).glob(".*.removed"):
            shutil.rmtree(rest, ignore_errors=True)
    return gone


def _item(kind: str, place: Path) -> CacheItem:
    size, used = measure(place)
    note = _note(place / _NOTES[kind]) if kind in _NOTES else {}
    if kind != EMBEDDINGS:
        model = note.get("model")
        name = str(model.get("name", "")) if isinstance(model, dict) else ""
        return CacheItem(place, kind, size, _idle(used), name)
    window = note.get("window")
    return CacheItem(
        place,
        kind,
        size,
        _idle(used),
        str(note.get("name") or f"{place.name} (no {EMBEDDING_NOTE})"),
        str(note.get("role") or "?"),
        window if isinstance(window, int) else None,
        sum(rows_by_name(file) for file in place.glob(f"*{SUFFIX}")),
    )


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
