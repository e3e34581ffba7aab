"""One file of embeddings: written once, never changed, checked when read.

A shard is a safetensors file with the text hashes (sorted), what the model saw of each text, and the vectors. One
checksum in its header covers all but the vectors; each vector has its own, so that damage costs single rows and
opening a shard does not read them.
"""

from __future__ import annotations

import json
import os
import re
import uuid
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from harness.records import Encoded, IntArray

SUFFIX = ".safetensors"
HASH = np.dtype("S32")
Hashes = npt.NDArray[np.bytes_]
_NAME = re.compile(r"([1-9][0-9]*)-[0-9a-f]{32}\.safetensors")
_HEADER_LIMIT = 1 << 20
_INDEX = ("hashes", "tokens", "seen_tokens", "seen_chars", "crc32")
_DTYPES: dict[str, tuple[str, np.dtype[Any]]] = {
    "hashes": ("U8", np.dtype(np.uint8)),
    "tokens": ("I64", np.dtype("<i8")),
    "seen_tokens": ("I64", np.dtype("<i8")),
    "seen_chars": ("I64", np.dtype("<i8")),
    "crc32": ("U32", np.dtype("<u4")),
}
# How the numbers of vectors are stored: the name in the file, and by what name people ask for it.
VECTORS: dict[str, tuple[str, np.dtype[Any]]] = {
    "float32": ("F32", np.dtype("<f4")),
    "float16": ("F16", np.dtype("<f2")),
}


def take(encoded: Encoded, rows: npt.NDArray[Any]) -> Encoded:
    """The given rows (places or a mask) of all columns."""
    vectors, tokens, seen_tokens, seen_chars = encoded
    return Encoded(vectors[rows], tokens[rows], seen_tokens[rows], seen_chars[rows])


def put(into: Encoded, rows: npt.NDArray[Any], part: Encoded) -> None:
    """Writes ``part`` over the given rows of all columns of ``into``."""
    into.vectors[rows] = part.vectors
    into.tokens[rows] = part.tokens
    into.seen_tokens[rows] = part.seen_tokens
    into.seen_chars[rows] = part.seen_chars


class DamagedShardError(Exception):
    """The file is not what was written; its message says what is wrong."""


class Place(NamedTuple):
    """Where the vectors lie in the file: byte ``offset`` of the first, ``rows``, ``dim``, the file's size, and the kind of number."""

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
        index, self._place = _open(path)
        if dim is not None and self._place.dim != dim:
            raise DamagedShardError(f"its vectors have {self._place.dim} numbers instead of {dim}")
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
        place = self._place
        if self.path.stat().st_size != place.size:
            raise DamagedShardError("its size has changed")
        mapped = np.memmap(
            self.path, dtype=place.dtype, mode="r", offset=place.offset, shape=(place.rows, place.dim)
        )
        vectors = np.array(mapped[rows])
        self._check(rows, vectors)
        index = self._index
        seen = (index[name][rows].astype(np.int64) for name in ("tokens", "seen_tokens", "seen_chars"))
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
    """Writes the rows aside, makes sure they are on disk, and renames; gives the shard's path.

    Hashes must be unique; the file's name holds the number of rows. ``dtype``: a name in ``VECTORS``. Raises ``OSError``.
    """
    from safetensors.numpy import save

    order = np.argsort(hashes)
    vectors = np.ascontiguousarray(encoded.vectors[order], dtype=VECTORS[dtype][1])
    index: dict[str, npt.NDArray[Any]] = {
        "hashes": np.ascontiguousarray(hashes[order]).view(np.uint8).reshape(-1, HASH.itemsize),
        "tokens": encoded.tokens[order].astype("<i8"),
        "seen_tokens": encoded.seen_tokens[order].astype("<i8"),
        "seen_chars": encoded.seen_chars[order].astype("<i8"),
        "crc32": np.fromiter((zlib.crc32(row) for row in vectors), dtype="<u4", count=len(vectors)),
    }
    content = save(
        {**index, "vectors": vectors}, metadata={"index_crc32": str(_index_crc(index, vectors.shape))}
    )
    name = uuid.uuid4().hex
    aside, path = folder / f".{name}.part", folder / f"{len(hashes)}-{name}{SUFFIX}"
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
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


def _open(path: Path) -> tuple[dict[str, npt.NDArray[Any]], Place]:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= _HEADER_LIMIT:
            raise DamagedShardError("it has no header")
        try:
            header = json.loads(file.read(length))
            index = {name: _tensor(file, header[name], name, 8 + length) for name in _INDEX}
            rows, dim = (int(number) for number in header["vectors"]["shape"])
            begin, end = (int(number) for number in header["vectors"]["data_offsets"])
            expected = int(header["__metadata__"]["index_crc32"])
            dtype = dict(VECTORS.values())[header["vectors"]["dtype"]]
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedShardError(f"its header can't be read ({type(error).__name__})") from error
    offset = 8 + length + begin
    if _index_crc(index, (rows, dim)) != expected or len(index["hashes"]) != rows or not rows:
        raise DamagedShardError("its checksum is wrong")
    if end - begin != rows * dim * dtype.itemsize or offset + end - begin > size:
        raise DamagedShardError("it is shorter than it should be")
    return index, Place(offset, rows, dim, size, dtype)


def _tensor(file: Any, entry: dict[str, Any], name: str, start: int) -> npt.NDArray[Any]:
    code, dtype = _DTYPES[name]
    begin, end = (int(number) for number in entry["data_offsets"])
    if entry["dtype"] != code or not 0 <= begin <= end:
        raise ValueError(name)
    file.seek(start + begin)
    content: bytes = file.read(end - begin)
    flat: npt.NDArray[Any] = np.frombuffer(content, dtype=dtype)
    return flat.reshape([int(number) for number in entry["shape"]])
