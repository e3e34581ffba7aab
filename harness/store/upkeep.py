"""What is kept in the cache folder: list it, remove what was not used for long.

A sweep may run meanwhile. What is removed is renamed first, so that a reader finds all of it or nothing, and
computes again what is gone.
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import StoreError
from harness.store import embedding_store, rankings
from harness.store.shard import SUFFIX, rows_by_name
from harness.store.used import measure

EMBEDDINGS, RANKINGS, TOKENS = "embeddings", "rankings", "tokens"
# Folders that are never pruned: seldom many, and dear to make or tiny.
OTHERS = {
    "file_hashes": "file hashes",
    "models": "joined models",
    "openvino": "models for OpenVINO",
    "onnx": "models for ONNX Runtime",
    "backends": "trials of backends",
    "sweeps": "copied sweeps",
}
_DAY = 24 * 3600.0
_REMOVED = ".removed"


class Kept(NamedTuple):
    """One thing that is kept whole or removed whole.

    ``kind`` is the folder that it lies in; ``name`` that of its model, empty for what belongs to none; ``role``, ``window`` (tokens,
    None without limit) and ``texts`` are those of embeddings; ``size`` in bytes; ``idle``: days since it was last used.
    """

    place: Path
    kind: str
    size: int
    idle: float
    name: str = ""
    role: str = ""
    window: int | None = None
    texts: int = 0


def kept(cache: Path, only: str = "") -> list[Kept]:
    """Embeddings by model and role, then rankings, then token maps.

    ``only`` restricts them to what belongs to models whose name contains it, in whatever case. Raises ``StoreError`` when
    ``cache`` is a file.
    """
    if cache.exists() and not cache.is_dir():
        raise StoreError(f"{cache} is a file; cache= takes a folder.", where=cache)
    found = [*_embeddings(cache), *_simple(cache, RANKINGS), *_simple(cache, TOKENS)]
    return [item for item in found if only.casefold() in item.name.casefold()]


def others(cache: Path) -> list[tuple[str, int, int]]:
    """What is never pruned: (label, number, bytes). Anything else in the folder is ``other files``."""
    found = []
    for name, label in OTHERS.items():
        places = _entries(cache / name)
        if places:
            found.append((label, len(places), sum(measure(place)[0] for place in places)))
    known = {*OTHERS, EMBEDDINGS, RANKINGS, TOKENS}
    rest = [place for place in _entries(cache) if place.name not in known]
    return [*found, ("other files", len(rest), sum(measure(place)[0] for place in rest))] if rest else found


def prune(cache: Path, items: Sequence[Kept], days: int) -> list[Kept]:
    """Removes those that were idle for ``days`` days or longer, and gives them. Raises ``StoreError``."""
    # Looked at again: a sweep may have used it since it was listed.
    gone = [item for item in items if _idle(measure(item.place)[1]) >= days and _remove(item.place)]
    # Left by one that was killed between renaming and removing.
    for kind in (EMBEDDINGS, RANKINGS, TOKENS):
        for rest in (cache / kind).glob(f".*{_REMOVED}"):
            shutil.rmtree(rest, ignore_errors=True)
    return gone


def _embeddings(cache: Path) -> list[Kept]:
    found = []
    for place in _entries(cache / EMBEDDINGS):
        note = _note(place / embedding_store.NOTE)
        window = note.get("window")
        size, used = measure(place)
        found.append(
            Kept(
                place,
                EMBEDDINGS,
                size,
                _idle(used),
                str(note.get("name") or f"{place.name} (no {embedding_store.NOTE})"),
                str(note.get("role") or "?"),
                window if isinstance(window, int) else None,
                sum(rows_by_name(file) for file in place.glob(f"*{SUFFIX}")),
            )
        )
    return sorted(found, key=lambda item: (item.name.casefold(), item.role, item.place))


def _simple(cache: Path, kind: str) -> list[Kept]:
    found = []
    for place in _entries(cache / kind):
        model = _note(place / rankings.NOTE).get("model") if kind == RANKINGS else None
        size, used = measure(place)
        found.append(
            Kept(
                place, kind, size, _idle(used), str(model.get("name", "")) if isinstance(model, dict) else ""
            )
        )
    return found


def _entries(folder: Path) -> list[Path]:
    """What lies in the folder, without what is being written or removed."""
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
    """Whether it was there to be removed."""
    aside = place.with_name(f".{uuid.uuid4().hex}{_REMOVED}")
    try:
        place.rename(aside)
        if aside.is_dir():
            shutil.rmtree(aside)
        else:
            aside.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(
            f"{place} can't be removed ({error.strerror or error}). Remove it as its owner, or when no sweep uses it.",
            where=place,
        ) from error
    return True
