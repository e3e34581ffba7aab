"""All shards of one model in one role: find rows, add rows, merge shards."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.records import Encoded, IntArray
from harness.store.shard import (
    SUFFIX,
    DamagedShardError,
    Hashes,
    Shard,
    joined,
    put,
    rows_by_name,
    take,
    write_shard,
)

BoolArray = npt.NDArray[np.bool_]
logger = logging.getLogger(__name__)

# Sixteen shards of one size become one of the next size, up to the largest.
FAN_IN = 16
LARGEST_ROWS = 65_536
# So many rows are read at once.
_BLOCK_ROWS = 16_384
# Looks are repeated when another process merged shards meanwhile.
_LOOKS = 5
_STALE_SECONDS = 24 * 3600.0


class Space:
    """The embeddings of one model in one role, in a folder of shards that any number of processes may share.

    Shards are only added, and removed once all their rows are in another one; so no lock is needed.
    """

    def __init__(self, folder: Path, dim: int, dtype: str = "float32") -> None:
        self.folder = folder
        self.dim = dim
        self.dtype = dtype
        self._shards: dict[Path, Shard] = {}
        self._vanished = False

    def find(self, hashes: Hashes, places: IntArray | None = None) -> tuple[Encoded, BoolArray]:
        """The rows of these text hashes, and which hashes were found: bool (hashes,). Missing rows are zeros.

        ``places``: a permutation, the row of the result for each hash; None keeps the order of the hashes.
        Sorted hashes are found faster, and with their places the rows of a million texts are in memory once.
        """
        count = len(hashes)
        none = np.zeros(count, dtype=np.int64)
        result = Encoded(np.zeros((count, self.dim), dtype=np.float32), none, none.copy(), none.copy())
        found = np.zeros(count, dtype=bool)
        for _ in range(_LOOKS):
            self._vanished = False
            self._refresh()
            # The biggest first: it is likely to hold most.
            for path in sorted(self._shards, key=rows_by_name, reverse=True):
                if not found.all():
                    self._collect(path, hashes, places, result, found)
            if not self._vanished:
                break
        return result, found

    def has(self, hashes: Hashes) -> BoolArray:
        """Which of these hashes are there: bool (hashes,). The vectors are not read."""
        self._refresh()
        found = np.zeros(len(hashes), dtype=bool)
        for shard in self._shards.values():
            found |= shard.find(hashes) >= 0
        return found

    def shards(self) -> tuple[Shard, ...]:
        """The opened shards."""
        return tuple(self._shards.values())

    def add(self, hashes: Hashes, encoded: Encoded) -> None:
        """Adds the rows; they are on disk when this returns. Raises ``OSError``."""
        self._open(write_shard(self.folder, hashes, encoded, self.dtype))

    def tidy(self) -> None:
        """Merges small shards, rewrites damaged ones, and removes the leftovers of killed writers."""
        self._refresh()
        sizes: dict[int, list[Path]] = defaultdict(list)
        for path, shard in list(self._shards.items()):
            if shard.damaged:
                self._merge([path])
            elif len(shard) < LARGEST_ROWS:
                sizes[int(np.log(len(shard)) / np.log(FAN_IN))].append(path)
        for paths in sizes.values():
            if len(paths) >= FAN_IN:
                for run in self._runs(paths):
                    self._merge(run)
        _remove_stale(self.folder)

    def _collect(
        self, path: Path, hashes: Hashes, places: IntArray | None, result: Encoded, found: BoolArray
    ) -> None:
        """Fills in the missing rows that one shard holds, a block of them at a time."""
        shard = self._shards[path]
        missing = np.flatnonzero(~found)
        rows = shard.find(hashes[missing])
        wanted, rows = missing[rows >= 0], rows[rows >= 0]
        before = shard.damaged
        try:
            for first in range(0, len(rows), _BLOCK_ROWS):
                block = wanted[first : first + _BLOCK_ROWS]
                part, sound = shard.read(rows[first : first + _BLOCK_ROWS])
                block = block[sound]
                put(result, block if places is None else places[block], take(part, sound))
                found[block] = True
        except FileNotFoundError:
            # Another process merged it away; its rows are in a shard that the next look finds.
            del self._shards[path]
            self._vanished = True
            return
        except (DamagedShardError, OSError, ValueError) as error:
            self._distrust(path, error)
            return
        if shard.damaged > before:
            message = (
                "%d of %d rows in the embedding shard %s are damaged (checksum); they are computed again."
            )
            logger.warning(message, shard.damaged - before, len(shard), path)

    def _refresh(self) -> None:
        there = {path for path in self.folder.glob(f"*{SUFFIX}") if rows_by_name(path)}
        for gone in set(self._shards) - there:
            del self._shards[gone]
        for path in sorted(there - set(self._shards)):
            self._open(path)

    def _open(self, path: Path) -> None:
        try:
            self._shards[path] = Shard(path, self.dim)
        except FileNotFoundError:
            self._vanished = True
        except (DamagedShardError, OSError) as error:
            self._distrust(path, error)

    def _distrust(self, path: Path, error: Exception) -> None:
        message = "The embedding shard %s can't be used (%s); its %d rows are computed again."
        logger.warning(message, path, error, rows_by_name(path))
        self._shards.pop(path, None)
        if isinstance(error, DamagedShardError):
            _remove(path)

    def _runs(self, paths: list[Path]) -> Iterator[list[Path]]:
        """The shards in groups of at least two that reach the largest size: a merge must fit into memory."""
        run: list[Path] = []
        for path in paths:
            run.append(path)
            if len(run) > 1 and sum(len(self._shards[one]) for one in run) >= LARGEST_ROWS:
                yield run
                run = []
        if len(run) > 1:
            yield run

    def _merge(self, paths: list[Path]) -> None:
        """Replaces these shards by one; does nothing when the folder can't be written."""
        hashes, parts = [], []
        for path in paths:
            try:
                part, sound = self._shards[path].read(np.arange(len(self._shards[path])))
            except (DamagedShardError, OSError, ValueError):
                return  # the next look reports it
            hashes.append(self._shards[path].hashes[sound])
            parts.append(take(part, sound))
        unique, first = np.unique(np.concatenate(hashes), return_index=True)
        try:
            if len(unique):
                self.add(unique, take(joined(parts), first))
        except OSError as error:
            logger.debug("Embedding shards in %s were not merged: %s", self.folder, error)
            return
        for path in paths:
            self._shards.pop(path, None)
            _remove(path)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _remove_stale(folder: Path) -> None:
    for part in folder.glob(".*.part"):
        with suppress(OSError):
            if time.time() - part.stat().st_mtime > _STALE_SECONDS:
                part.unlink()
