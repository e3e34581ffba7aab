"""The sha256 of a file, remembered by what changes when the file does."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
import uuid
from pathlib import Path

logger = logging.getLogger(__name__)

# A file written this recently may be written again within the clock's resolution without a visible trace.
_SETTLED_NS = 2_000_000_000


def file_sha256(path: Path, cache_dir: Path) -> str:
    """Hexadecimal sha256 of the file's bytes.

    It is remembered under ``cache_dir/file_hashes`` by path, size and the times of change; a file of 400 MB costs a
    second once. A folder that can't be written costs that second every time and nothing else. Raises ``OSError``
    when the file can't be read.
    """
    path = path.resolve()
    stat = path.stat()
    stamp = [str(path), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
    note = cache_dir / "file_hashes" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:32]}.json"
    known = _remembered(note, stamp)
    if known is not None:
        return known
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) > _SETTLED_NS:
        _remember(note, stamp, found)
    return found


def _remembered(note: Path, stamp: list[object]) -> str | None:
    try:
        entry = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(entry["sha256"]) if isinstance(entry, dict) and entry.get("stamp") == stamp else None


def _remember(note: Path, stamp: list[object], found: str) -> None:
    aside = note.with_name(f".{uuid.uuid4().hex}.part")
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(json.dumps({"stamp": stamp, "sha256": found}), encoding="utf-8")
        aside.replace(note)
    except OSError as error:
        logger.debug("The hash of %s could not be remembered in %s: %s", stamp[0], note, error)
