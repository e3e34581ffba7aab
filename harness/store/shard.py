"""One file of embeddings: written once, never changed, checked when read.

A shard is a safetensors file with the text hashes (sorted), what the model saw of each text, and the vectors.
One checksum in its header covers all but the vectors; each vector has its own, so that damage costs single
rows and opening a shard does not read them.
"""

from __future__ import annotations

import json
import os
import re
import uuid
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.files.atomic import replacing
from harness.records import Encoded, IntArray

SUFFIX = ".safetensors"
HASH = np.dtype("S32")
Hashes = npt.NDArray[np.bytes_]
_NAME = re.compile(r"([1-9][0-9]*)-[0-9a-f]{32}\.safetensors")
_COUNTS = ("tokens", "seen_tokens", "seen_chars")
# All columns but the vectors.
_INDEX: dict[str, np.dtype[Any]] = {
    "hashes": np.dtype(np.uint8),
    "tokens": np.dtype("<i8"),
    "seen_tokens": np.dtype("<i8"),
    "seen_chars": np.dtype("<i8"),
    "crc32": np.dtype("<u4"),
}
# Number formats of vectors: the name of the setting, and the name and dtype in the file.
VECTORS: dict[str, tuple[str, np.dtype[Any]]] = {
    "float32": ("F32", np.dtype("<f4")),
    "float16": ("F16", np.dtype("<f2")),
}


def take(encoded: Encoded, rows: npt.NDArray[Any]) -> Encoded:
    """The given rows (places or a mask) of all columns."""
    return Encoded(*(column[rows] for column in encoded))


def put(into: Encoded, rows: npt.NDArray[Any], part: Encoded) -> None:
    """Writes ``part`` over the given rows of all columns of ``into``."""
    columns: tuple[npt.NDArray[Any], ...] = into
    for column, values in zip(columns, part, strict=True):
        column[rows] = values


def joined(parts: Sequence[Encoded]) -> Encoded:
    """The rows of all parts, one part after the other."""
    return Encoded(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class DamagedShardError(Exception):
    """The file is not what was written; its message says what is wrong."""


class VectorLayout(NamedTuple):
    """Where the vectors are in the file: byte ``offset`` of the first one; ``size`` is that of the file."""

    offset: int
    rows: int
    dim: int
    size: int
    dtype: np.dtype[Any]


class Shard:
    """An opened shard: its index in memory, its vectors on disk. Raises ``DamagedShardError`` or ``OSError``.

    ``dim`` is how many numbers a vector must have; None takes whatever it has.
    """

    def __init__(self, path: Path, dim: int | None) -> None:
        self.path = path
        index, self._layout = _open(path)
        if dim is not None and self._layout.dim != dim:
            raise DamagedShardError(f"its vectors have {self._layout.dim} numbers instead of {dim}")
        self.hashes: Hashes = index["hashes"].reshape(-1).view(HASH)
        self._index = index
        self._sound = np.zeros(len(self.hashes), dtype=bool)
        self._damaged = np.zeros(len(self.hashes), dtype=bool)

    def __len__(self) -> int:
        return len(self.hashes)

    def find(self, hashes: Hashes) -> IntArray:
        """int64 (hashes,): the row of each hash, -1 where the shard doesn't hold it."""
        rows = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        return np.where(self.hashes[rows] == hashes, rows, -1).astype(np.int64)

    def read(self, rows: IntArray) -> tuple[Encoded, npt.NDArray[np.bool_]]:
        """The rows, and which of them are sound: bool (rows,). A row is checked when it is first read."""
        layout = self._layout
        if self.path.stat().st_size != layout.size:
            raise DamagedShardError("its size has changed")
        mapped = np.memmap(
            self.path, dtype=layout.dtype, mode="r", offset=layout.offset, shape=(layout.rows, layout.dim)
        )
        vectors = np.array(mapped[rows])
        self._check(rows, vectors)
        index = self._index
        seen = (index[name][rows].astype(np.int64) for name in _COUNTS)
        return Encoded(vectors.astype(np.float32, copy=False), *seen), ~self._damaged[rows]

    @property
    def damaged(self) -> int:
        """How many rows were found damaged so far."""
        return int(self._damaged.sum())

    def _check(self, rows: IntArray, vectors: npt.NDArray[Any]) -> None:
        todo = np.flatnonzero(~self._sound[rows])
        sums = np.fromiter((zlib.crc32(vectors[i]) for i in todo.tolist()), dtype=np.uint32, count=len(todo))
        good = sums == self._index["crc32"][rows[todo]]
        self._sound[rows[todo[good]]] = True
        self._damaged[rows[todo[~good]]] = True


def write_shard(folder: Path, hashes: Hashes, encoded: Encoded, dtype: str = "float32") -> Path:
    """Writes a shard, on the disk when this returns; gives its path.

    Hashes must be unique. The file's name holds the number of rows. ``dtype``: a name in ``VECTORS``. Raises
    ``OSError``.
    """
    from safetensors.numpy import save

    order = np.argsort(hashes)
    vectors = np.ascontiguousarray(encoded.vectors[order], dtype=VECTORS[dtype][1])
    index: dict[str, npt.NDArray[Any]] = {
        "hashes": np.ascontiguousarray(hashes[order]).view(np.uint8).reshape(-1, HASH.itemsize),
        **{name: getattr(encoded, name)[order].astype("<i8") for name in _COUNTS},
        "crc32": np.fromiter((zlib.crc32(row) for row in vectors), dtype="<u4", count=len(vectors)),
    }
    metadata = {"index_crc32": str(_index_crc(index, vectors.shape))}
    path = folder / f"{len(hashes)}-{uuid.uuid4().hex}{SUFFIX}"
    with replacing(path, durable=True) as file:
        file.write(save({**index, "vectors": vectors}, metadata=metadata))
    return path


def rows_by_name(path: Path) -> int:
    """How many rows the shard says it has, from its name alone; 0 for a name of another form."""
    matched = _NAME.fullmatch(path.name)
    return int(matched[1]) if matched else 0


def _index_crc(index: dict[str, npt.NDArray[Any]], shape: tuple[int, ...]) -> int:
    total = zlib.crc32(repr(tuple(shape)).encode())
    for name in _INDEX:
        total = zlib.crc32(np.ascontiguousarray(index[name]).data, total)
    return total


def _open(path: Path) -> tuple[dict[str, npt.NDArray[Any]], VectorLayout]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            index = {name: file.get_tensor(name) for name in _INDEX}
            vectors = file.get_slice("vectors")
            rows, dim = vectors.get_shape()
            dtype = dict(VECTORS.values())[vectors.get_dtype()]
            expected = int(file.metadata()["index_crc32"])
        offset, size = _vectors_offset(path)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DamagedShardError(
            f"its header can't be read or its size is wrong ({type(error).__name__})"
        ) from error
    is_typed = all(index[name].dtype == kind for name, kind in _INDEX.items())
    if not is_typed or not rows or len(index["hashes"]) != rows or _index_crc(index, (rows, dim)) != expected:
        raise DamagedShardError("its checksum is wrong")
    return index, VectorLayout(offset, rows, dim, size, dtype)


def _vectors_offset(path: Path) -> tuple[int, int]:
    """Byte offset of the vectors, which ``safe_open`` does not tell, and the size of the file."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        begin = json.loads(file.read(length))["vectors"]["data_offsets"][0]
        return 8 + length + int(begin), os.fstat(file.fileno()).st_size
