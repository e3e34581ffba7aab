"""Arrays that are kept in one folder under names, beside a note of what they were made from."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import StoreError
from harness.files.archive import DamagedArchiveError, read_archive, write_archive, write_bytes
from harness.store.used import mark_used

logger = logging.getLogger(__name__)


class CachedArrays:
    """NumPy archives in a folder below ``root`` that is named by the hash of ``key``, which is written there as ``note``. Without a ``root`` nothing is cached.

    Checksums are verified when they are read; a damaged file counts as missing.
    """

    def __init__(self, root: Path | None, key: Mapping[str, Any], note: str) -> None:
        self._note = json.dumps(key, sort_keys=True, indent=1)
        self._folder = None if root is None else root / digest(json.dumps(key, sort_keys=True))
        self._name = note

    def read(self, name: str) -> dict[str, Any] | None:
        """The arrays cached under ``name``, or None."""
        if self._folder is None:
            return None
        path = self._folder / f"{name}.npz"
        try:
            kept = read_archive(path)
        except FileNotFoundError:
            return None
        except (OSError, DamagedArchiveError) as error:
            logger.warning("%s is damaged (%s) and is computed again.", path, error)
            return None
        mark_used(self._folder)
        return kept

    def write(self, name: str, **arrays: Any) -> None:
        """Writes aside and renames; nothing without a ``root``. Raises ``StoreError`` when the disk refuses."""
        if self._folder is None:
            return
        try:
            if not (self._folder / self._name).is_file():
                write_bytes(self._folder / self._name, self._note.encode())
            write_archive(self._folder / f"{name}.npz", arrays)
        except OSError as error:
            raise StoreError(
                f"{self._folder} can't be written ({error.strerror or error}). Free space there or choose another folder (cache=).",
                where=self._folder,
            ) from error


def digest(text: str) -> str:
    """What stands for a text in a file's name."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
