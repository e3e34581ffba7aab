"""The folder of cached embeddings: a space for each model and role."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np

from harness.errors import SettingError, StoreError
from harness.files.atomic import write_bytes
from harness.records import Encoded, IntArray
from harness.store.arrays import mark_used
from harness.store.shard import HASH, VECTORS, Hashes
from harness.store.space import Space

Role: TypeAlias = Literal["document", "query"]
NOTE = "model.json"
_SCHEME = 1


@runtime_checkable
class Windowed(Protocol):
    """A model that truncates: passages with the same beginning up to its window have the same vector."""

    def readings(self, texts: Sequence[str]) -> tuple[Sequence[bytes], Encoded]:
        """A key of what is read of each truncated passage, empty for others; and all but the vectors."""


class EmbeddingStore:
    """A folder of embeddings. Nothing is created before something is written.

    ``dtype``: ``float32``, or ``float16`` for half the disk. Then every vector is rounded before its first
    use too, so that a result never depends on what was cached. Raises ``SettingError`` for another one.
    """

    def __init__(self, folder: str | Path, dtype: str = "float32") -> None:
        if dtype not in VECTORS:
            raise SettingError(
                f"cache_dtype is {dtype}; it must be {' or '.join(VECTORS)}.", key="cache_dtype"
            )
        self.folder = Path(folder)
        self.dtype = dtype

    def space(self, identity: Mapping[str, Any], role: Role) -> Space:
        """The embeddings of one model in one role.

        Settings of the other role are not part of the key: another question prompt must not embed passages
        again.
        """
        others = {"query_prompt"} if role == "document" else {"document_prompt", "long_chunks"}
        key: dict[str, Any] = {
            "scheme": _SCHEME,
            "role": role,
            "model": {k: v for k, v in identity.items() if k not in others},
        }
        if self.dtype != "float32":
            key["dtype"] = self.dtype
        text = json.dumps(key, sort_keys=True, ensure_ascii=True)
        folder = self.folder / hashlib.sha256(text.encode()).hexdigest()[:32]
        return Space(folder, int(identity["dim"]), self.dtype)

    def rounded(self, encoded: Encoded) -> Encoded:
        """``encoded`` as it will be read from the store."""
        vectors = encoded.vectors.astype(VECTORS[self.dtype][1]).astype(np.float32)
        return encoded._replace(vectors=vectors)

    def prepare(self, space: Space, identity: Mapping[str, Any], role: Role) -> None:
        """Makes the space's folder, with a note that says what it holds. Raises ``StoreError``."""
        note = json.dumps({"role": role, **identity}, indent=1, sort_keys=True)
        try:
            # Written every time: a folder that can't be written must be known before hours of embedding.
            write_bytes(space.folder / NOTE, note.encode())
        except OSError as error:
            raise self._unwritable(error, 0) from error

    def add(
        self, space: Space, identity: Mapping[str, Any], role: Role, hashes: Hashes, part: Encoded
    ) -> None:
        """Adds rows to a space that was prepared. Raises ``StoreError``."""
        try:
            try:
                space.add(hashes, part)
            except FileNotFoundError:
                # Another process removed the folder while the model was at work.
                self.prepare(space, identity, role)
                space.add(hashes, part)
        except OSError as error:
            raise self._unwritable(error, sum(len(shard) for shard in space.shards())) from error

    def mark_used(self, space: Space) -> None:
        """Notes that the space was used now. Raises ``StoreError``."""
        mark_used(space.folder / NOTE)

    def _unwritable(self, error: OSError, cached: int) -> StoreError:
        return StoreError(
            f"The embedding store {self.folder} can't be written ({error.strerror or error}); "
            f"{cached} embeddings of this model are cached in it. Free space there or choose another folder "
            "(cache=), and run the same command again: only what is missing is computed.",
            where=self.folder,
        )


def unique_texts(texts: Sequence[str]) -> tuple[Hashes, IntArray, IntArray]:
    """Sorted hashes of the different texts, each one's first position, and the hash number of every text."""
    hashes = b"".join(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts)
    unique, first, inverse = np.unique(
        np.frombuffer(hashes, dtype=HASH), return_index=True, return_inverse=True
    )
    return unique, first.astype(np.int64), inverse.astype(np.int64)
