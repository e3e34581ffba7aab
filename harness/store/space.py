"""All shards of one model in one role: find rows, add rows, and keep the shards few and sound."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.records import Encoded, IntArray
from harness.store.shard import SUFFIX, DamagedShardError, Hashes, Shard, put, rows_by_name, take, write_shard

logger = logging.getLogger(__name__)

# Sixteen shards of one size become one of the next size; above the last size they stay as they are.
FAN_IN = 16
LARGEST_ROWS = 65_536
# So many rows are read at once.
_BLOCK_ROWS = 16_384
# A look is repeated when another process merged shards away meanwhile.
_LOOKS = 5
_STALE_SECONDS = 24 * 3600.0


class Space:
    """The embeddings of one model in one role, in a folder of shards that any number of processes may share.

    Shards are only ever added and, once all their rows stand in another one, removed; so no lock is needed, and what
    was read once stays right. Two processes that compute the same text both keep it: harmless.
    """

    def __init__(self, folder: Path, dim: int, dtype: str = "float32") -> None:
        self.folder = folder
        self.dim = dim
        self.dtype = dtype
        self._shards: dict[Path, Shard] = {}
        self._vanished = False

    def find(self, hashes: Hashes, places: IntArray | None = None) -> tuple[Encoded, npt.NDArray[np.bool_]]:
        """The rows of these text hashes, and which hashes were found: bool (hashes,). Rows that were not are zeros.

        ``places``, a permutation, says which row of the result is each hash's: sorted hashes are found sooner, and the rows of a
        million texts, put where they belong at once, are in memory once. None leaves them in the order of the hashes.
        """
        count = len(hashes)
        none = np.zeros(count, dtype=np.int64)
        result = Encoded(np.zeros((count, self.dim), dtype=np.float32), none, none.copy(), none.copy())
        found = np.zeros(count, dtype=bool)
        for _ in range(_LOOKS):
            self._vanished = False
            self._refresh()
            # The biggest first: it is likeliest to hold most.
            for path in sorted(self._shards, key=rows_by_name, reverse=True):
                if not found.all():
                    self._collect(path, hashes, places, result, found)
            if not self._vanished:
                break
        return result, found

    def has(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """Which of these hashes are there, by the index alone: bool (hashes,). No vector is read."""
        self._refresh()
        found = np.zeros(len(hashes), dtype=bool)
        for shard in self._shards.values():
            found |= shard.find(hashes) >= 0
        return found

    def shards(self) -> tuple[Shard, ...]:
        """The opened shards."""
        return tuple(self._shards.values())

    def add(self, hashes: Hashes, encoded: Encoded) -> None:
        """Keeps the rows; they are on disk when this returns. Raises ``OSError``."""
        self._open(write_shard(self.folder, hashes, encoded, self.dtype))

    def tidy(self) -> None:
        """Merges shards of one size where there are many, rewrites damaged ones, removes what killed writers left."""
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
        for part in self.folder.glob(".*.part"):
            _remove_stale(part)

    def _collect(
        self,
        path: Path,
        hashes: Hashes,
        places: IntArray | None,
        result: Encoded,
        found: npt.NDArray[np.bool_],
    ) -> None:
        """Fills in the rows of one shard that are still missing, a block of them at a time."""
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
            logger.warning(
                "%d of %d rows in the embedding shard %s are damaged (checksum); they are computed again.",
                shard.damaged - before, len(shard), path,
            )  # fmt: skip

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
        logger.warning(
            "The embedding shard %s can't be used (%s); its %d rows are computed again.",
            path,
            error,
            rows_by_name(path),
        )
        self._shards.pop(path, None)
        if isinstance(error, DamagedShardError):
            _remove(path)

    def _runs(self, paths: list[Path]) -> Iterator[list[Path]]:
        """The shards in portions that reach the largest size, two at least in each: what is merged must fit into memory."""
        run: list[Path] = []
        for path in paths:
            run.append(path)
            if len(run) > 1 and sum(len(self._shards[one]) for one in run) >= LARGEST_ROWS:
                yield run
                run = []
        if len(run) > 1:
            yield run

    def _merge(self, paths: list[Path]) -> None:
        """Copies all sound rows of these shards into one and removes them; without a place to write, nothing happens."""
        hashes, parts = [], []
        for path in paths:
            try:
                part, sound = self._shards[path].read(np.arange(len(self._shards[path])))
            except (DamagedShardError, OSError, ValueError):
                # The next look reports it.
                return
            hashes.append(self._shards[path].hashes[sound])
            parts.append(take(part, sound))
        unique, first = np.unique(np.concatenate(hashes), return_index=True)
        try:
            if len(unique):
                self.add(unique, take(_joined(parts), first))
        except OSError as error:
            logger.debug("Embedding shards in %s were not merged: %s", self.folder, error)
            return
        for path in paths:
            self._shards.pop(path, None)
            _remove(path)


def _joined(parts: list[Encoded]) -> Encoded:
    return Encoded(
        np.concatenate([part.vectors for part in parts]),
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.seen_tokens for part in parts]),
        np.concatenate([part.seen_chars for part in parts]),
    )


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.debug("%s could not be removed: %s", path, error)


def _remove_stale(part: Path) -> None:
    try:
        old = time.time() - part.stat().st_mtime > _STALE_SECONDS
    except OSError:
        return
    if old:
        _remove(part)
