"""What a store of millions needs of memory: a million vectors are in it once, everything else goes by in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.records import Encoded
from harness.store import embeddings, space
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel
from harness.store.shard import Shard, rows_by_name

TEXTS = [f"text {i}" for i in range(500)]


class StandIn:
    """A text's vector is its number, as cosine and sine."""

    name = "stand-in"

    def identity(self) -> dict[str, Any]:
        return {"name": self.name, "dim": 2}

    def whole(self) -> StandIn:
        return self

    def cut(self, encoded: Encoded) -> Encoded:
        return encoded

    def check(self, encoded: Encoded, texts: Sequence[str]) -> None:
        pass

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        angles = np.array([float(text.split()[1]) for text in texts])
        n = angles.astype(np.int64)
        return Encoded(np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32), n, n + 1, n + 2)

    encode_queries = encode_documents


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CachedModel:
    """A store whose largest shard has 64 rows and that reads 10 at once."""
    monkeypatch.setattr(space, "LARGEST_ROWS", 64)
    monkeypatch.setattr(space, "_BLOCK_ROWS", 10)
    monkeypatch.setattr(embeddings, "SLICE_TEXTS", 32)
    monkeypatch.setattr(embeddings, "LARGEST_SLICE", 32)
    return CachedModel(StandIn(), EmbeddingStore(tmp_path))  # type: ignore[arg-type]


def test_rows_come_in_blocks_and_are_copied_once(model: CachedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading takes ten rows at a time, and rows without repetitions stand where they belong without being moved."""
    model.encode_documents(TEXTS)
    real, sizes = Shard.read, []

    def read(self: Shard, rows: Any) -> Any:
        sizes.append(len(rows))
        return real(self, rows)

    monkeypatch.setattr(Shard, "read", read)
    monkeypatch.setattr(embeddings, "take", None)
    shuffled = [TEXTS[i] for i in np.random.default_rng(0).permutation(500)]
    found = model.encode_documents(shuffled)

    assert max(sizes) == 10
    assert sum(sizes) == 500
    assert all(np.array_equal(a, b) for a, b in zip(found, StandIn().encode_documents(shuffled), strict=True))


def test_repeated_texts_get_the_same_row(model: CachedModel) -> None:
    """Half computed before, half new, some of both twice: every place has its own text's row."""
    model.encode_documents(TEXTS[::2])
    asked = [TEXTS[i] for i in np.random.default_rng(1).integers(0, 500, 700)]
    found = model.encode_documents(asked)

    assert all(np.array_equal(a, b) for a, b in zip(found, StandIn().encode_documents(asked), strict=True))


def test_shards_are_merged_in_portions(model: CachedModel, tmp_path: Path) -> None:
    """Many shards become several of the largest size, never one of all: the merged rows are in memory several times."""
    model.encode_documents(TEXTS)
    sizes = [rows_by_name(path) for path in tmp_path.rglob("*.safetensors")]

    assert sum(sizes) == 500
    assert max(sizes) < 2 * 64
    assert len(sizes) < 10
