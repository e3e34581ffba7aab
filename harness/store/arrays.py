"""Cached NumPy arrays: archives with checksums in a folder with a note, and token maps."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import logging
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import StoreError
from harness.files.atomic import write_bytes
from harness.text.tokens import Tokenizer, TokenMaps

logger = logging.getLogger(__name__)

# The note in a folder of rankings or reranker scores.
NOTE = "ranking.json"
_MAPS_SCHEME = 1
# The record at the end of a zip file without comment: its size, and where it counts the members.
_END = 22
_COUNT = slice(10, 12)
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}
# What zipfile and NumPy raise when each single bit of a small archive is flipped, one after the other.
_DAMAGE = (zipfile.BadZipFile, zlib.error, OSError, ValueError, KeyError, EOFError, RuntimeError)


class DamagedArchiveError(Exception):
    """The file is not what was written; the message says what is wrong."""


class CachedArrays:
    """Archives in a folder below ``root``, named by the hash of ``key``; a note in it holds the key.

    Without a ``root`` nothing is cached. Checksums are verified on reading; a damaged archive counts as
    missing.
    """

    def __init__(self, root: Path | None, key: Mapping[str, Any]) -> None:
        self._note = json.dumps(key, sort_keys=True, indent=1)
        self._folder = None if root is None else root / digest(json.dumps(key, sort_keys=True))

    def read(self, name: str) -> dict[str, Any] | None:
        """The arrays cached under ``name``, or None."""
        if self._folder is None:
            return None
        return _cached(self._folder / f"{name}.npz", self._folder)

    def write(self, name: str, **arrays: Any) -> None:
        """Caches the arrays under ``name``. Raises ``StoreError`` when the folder can't be written."""
        if self._folder is None:
            return
        try:
            if not (self._folder / NOTE).is_file():
                write_bytes(self._folder / NOTE, self._note.encode())
            write_archive(self._folder / f"{name}.npz", arrays)
        except OSError as error:
            raise _unwritable(self._folder, error) from error


def cached_maps(folder: Path, tokenizer: Tokenizer, corpus_digest: str, texts: Sequence[str]) -> TokenMaps:
    """The token map of each text: read from ``folder``, or made and cached there.

    ``corpus_digest`` stands for the texts and their order. A damaged file is reported and made again. Raises
    ``StoreError`` when the folder can't be written.
    """
    # Texts with other line ends than "\n" were once read as they are: only their maps are made again.
    scheme = _MAPS_SCHEME + any("\r" in text for text in texts)
    key = json.dumps([scheme, version("tokenizers"), tokenizer.digest, corpus_digest, len(texts)])
    path = folder / f"{digest(key)}.npz"
    arrays = _cached(path, path)
    if arrays is not None:
        return TokenMaps(arrays["starts"], arrays["bounds"], arrays["lengths"])
    maps = tokenizer.map(texts)
    try:
        arrays = {"starts": np.asarray(maps.starts), "bounds": maps.bounds, "lengths": maps.lengths}
        write_archive(path, arrays)
    except OSError as error:
        raise _unwritable(path, error) from error
    return maps


def _cached(path: Path, used: Path) -> dict[str, Any] | None:
    """The arrays in ``path``, or None; ``used`` is the file or folder that is marked as used."""
    try:
        arrays = read_archive(path)
    except FileNotFoundError:
        return None
    except (OSError, DamagedArchiveError) as error:
        logger.warning("%s is damaged (%s) and is computed again.", path, error)
        return None
    mark_used(used)
    return arrays


def _unwritable(path: Path, error: OSError) -> StoreError:
    """The error for a part of the cache that can't be written."""
    return StoreError(
        f"{path} can't be written ({error.strerror or error}). Free space there or choose another folder "
        "(cache=).",
        where=path,
    )


def digest(text: str) -> str:
    """32 hexadecimal digits that stand for a text in a file's name."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def write_archive(path: Path, arrays: Mapping[str, Any]) -> None:
    """Writes the arrays by name, whole or not at all; makes the folder. Raises ``OSError``."""
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_bytes(path, content.getvalue())


def read_archive(path: Path) -> dict[str, Any]:
    """All arrays by name, their checksums verified. Raises ``DamagedArchiveError`` or ``OSError``."""
    content = path.read_bytes()
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = dict(archive.items())
    except _DAMAGE as error:
        raise DamagedArchiveError(str(error) or type(error).__name__) from error
    # A damaged directory of the archive may lose a member without any other sign.
    if len(arrays) != int.from_bytes(content[-_END:][_COUNT], "little"):
        raise DamagedArchiveError("it has lost a member")
    return arrays


def mark_used(path: Path) -> None:
    """Sets the time of change of a file or folder to now, if it exists: pruning goes by it.

    Read-only folders are left as they are. Raises ``StoreError`` for any other refusal.
    """
    try:
        os.utime(path)
    except FileNotFoundError:
        return  # removed meanwhile; what was read stays right
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise StoreError(f"{path} can't be marked as used ({error.strerror}).", where=path) from error
        logger.debug("%s is not marked as used: %s", path, error)
