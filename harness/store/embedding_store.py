"""Where embeddings are kept: a folder with a space for each model and role."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from harness.errors import SettingError, StoreError
from harness.files.archive import write_bytes
from harness.records import Encoded
from harness.store.shard import VECTORS
from harness.store.space import Space

Role: TypeAlias = Literal["document", "query"]
NOTE = "model.json"
_SCHEME = 1


class EmbeddingStore:
    """A folder of embeddings. Nothing is created before something is written.

    ``dtype``: ``float32``, or ``float16`` for half the disk; then every vector is rounded before its first use too, so that a result
    never depends on what was kept. Raises ``SettingError`` for another.
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

        What concerns the other role alone is no part of the key: another question prompt must not cost the passages.
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

    def as_kept(self, encoded: Encoded) -> Encoded:
        """What will be read again once ``encoded`` is kept."""
        return encoded._replace(vectors=encoded.vectors.astype(VECTORS[self.dtype][1]).astype(np.float32))

    def prepare(self, space: Space, identity: Mapping[str, Any], role: Role) -> None:
        """Makes the space's folder, with a note for people of what it holds. Raises ``StoreError``."""
        note = json.dumps({"role": role, **identity}, indent=1, sort_keys=True)
        try:
            # Written every time: a folder that can't be written must be known before hours of embedding.
            write_bytes(space.folder / NOTE, note.encode())
        except OSError as error:
            raise unwritable(self.folder, error, 0) from error


def unwritable(folder: Path, error: OSError, kept: int) -> StoreError:
    """The error for a store that refuses; ``kept`` says how many embeddings are safe."""
    return StoreError(
        f"The embedding store {folder} can't be written ({error.strerror or error}); {kept} embeddings of this model are kept in it. "
        "Free space there or choose another folder (cache=), and run the same command again: only what is missing is computed.",
        where=folder,
    )
