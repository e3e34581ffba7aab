"""Cached embeddings: each is computed once by model, role and text, and shared by cells and processes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from harness.model import Model
from harness.progress import bar
from harness.records import Encoded, IntArray
from harness.store.embedding_store import EmbeddingStore, Role, Windowed, unique_texts
from harness.store.shard import HASH, Hashes, put, take
from harness.store.space import Space

# kill -9 costs one slice at most. Slices start at this size and double while they take under two seconds.
SLICE_TEXTS = 32
LARGEST_SLICE = 8_192
_SLICE_SECONDS = 2.0
_COUNTERS = ("texts_embedded", "texts_cached", "embed_seconds", "embed_tokens")


class CachedModel:
    """An embedding model with a cache: no text is computed twice.

    Passages that are truncated after the same beginning are one text. Counters over all calls:
    ``texts_embedded`` were computed, ``texts_cached`` were not; ``embed_seconds`` and ``embed_tokens`` are
    the time and the tokens read for the computed ones.
    """

    def __init__(self, model: Model, store: EmbeddingStore) -> None:
        self.name = model.name
        self.texts_embedded = 0
        self.texts_cached = 0
        self.embed_seconds = 0.0
        self.embed_tokens = 0
        self._model = model
        # Its vectors are cached; those of the model are cut from them.
        self._whole = model.whole()
        self._windowed = self._whole if isinstance(self._whole, Windowed) else None
        self._store = store
        self._spaces: dict[Role, Space] = {}
        self._is_live = False

    def identity(self) -> Mapping[str, Any]:
        """That of the model."""
        return self._model.identity()

    def place(self) -> str | None:
        """Where on this machine the wrapped model's files are, or None."""
        return self._model.place()

    def agreement(self) -> float | None:
        """The wrapped model's agreement with its exact vectors."""
        return self._model.agreement()

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages; only new ones are computed."""
        encoded = self._encode(texts, "document")
        self._model.check(encoded, texts)
        return self._model.cut(encoded)

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions; only new ones are computed."""
        if self._is_live:
            return self._model.encode_queries(texts)
        encoded = self._encode(texts, "query")
        self._model.check(encoded, texts)
        return self._model.cut(encoded)

    def truncated_questions(self, texts: Sequence[str]) -> int:
        """How many questions the model can't read to their end; this counts as no use of the cache."""
        cached, encoded = self.texts_cached, self._encode(texts, "query")
        self.texts_cached = cached
        self._model.check(encoded, texts)
        return int(np.count_nonzero(encoded.seen_tokens < encoded.tokens))

    @contextmanager
    def live(self) -> Iterator[None]:
        """Computes every question while the block runs, as in production: the cache is not used."""
        self._is_live = True
        try:
            yield
        finally:
            self._is_live = False

    def copy(self, texts: Sequence[str], role: Role, store: EmbeddingStore) -> None:
        """Copies the vectors of ``texts`` into another store. Raises ``StoreError``."""
        unique, first, _ = unique_texts(texts)
        encoded = self._encode([texts[i] for i in first.tolist()], role)
        space = store.space(self._whole.identity(), role)
        store.prepare(space, self._whole.identity(), role)
        store.add(space, self._whole.identity(), role, unique, encoded)

    @property
    def is_rounded(self) -> bool:
        """True when the store holds less than float32, so that scores are rounded."""
        return self._store.dtype != "float32"

    def missing(self, texts: Sequence[str], role: Role) -> list[str]:
        """The different texts that are not cached, sorted by their hash. Loads no weights."""
        unique, first, _ = unique_texts(texts)
        return [texts[i] for i in first[~self._space(role).has(unique)].tolist()] if len(unique) else []

    def folder(self, role: Role) -> Path:
        """The folder of this role's embeddings; it may not exist yet."""
        return self._space(role).folder

    def counts(self) -> dict[str, float]:
        """The counters by name, over all calls so far."""
        return {name: getattr(self, name) for name in _COUNTERS}

    def encode_anew(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions without the cache, for timing the model."""
        return self._model.encode_queries(texts)

    def _space(self, role: Role) -> Space:
        if role not in self._spaces:
            self._spaces[role] = self._store.space(self._whole.identity(), role)
        return self._spaces[role]

    def _encode(self, texts: Sequence[str], role: Role) -> Encoded:
        """The whole vectors, as they are cached."""
        unique, first, inverse = unique_texts(texts)
        space = self._space(role)
        # Without repetitions the rows are put in their places at once: no second copy of a million vectors.
        places = first if len(unique) == len(texts) else np.arange(len(unique))
        result, found = space.find(unique, places)
        missing = np.flatnonzero(~found)
        if len(missing):
            self._store.prepare(space, self._whole.identity(), role)
            lengths = np.fromiter((len(texts[first[i]]) for i in missing), dtype=np.int64, count=len(missing))
            # Longest first: slices of similar length need little padding, and the estimated time is cautious.
            missing = missing[np.argsort(-lengths, kind="stable")]
            for rows, part in self._slices(texts, first, missing, role):
                self._add(role, unique[rows], part)
                put(result, places[rows], self._store.rounded(part))
            space.tidy()
        if len(unique):
            self._store.mark_used(space)
        self.texts_cached += len(texts) - len(missing)
        return result if len(unique) == len(texts) else take(result, inverse)

    def _slices(
        self, texts: Sequence[str], first: IntArray, missing: IntArray, role: Role
    ) -> Iterator[tuple[IntArray, Encoded]]:
        size, start = SLICE_TEXTS, 0
        with bar("embedding", len(missing), "chunks" if role == "document" else "questions") as progress:
            while start < len(missing):
                rows = missing[start : start + size]
                began = time.perf_counter()
                given = [texts[i] for i in first[rows].tolist()]
                part = self._computed(given, role)
                seconds = time.perf_counter() - began
                self.embed_seconds += seconds
                yield rows, part
                if role == "document":
                    # The longest come first, so the first slice shows what is refused.
                    self._model.check(part, given)
                progress.update(len(rows))
                start += len(rows)
                size = min(size * 2, LARGEST_SLICE) if seconds < _SLICE_SECONDS else size

    def _computed(self, texts: Sequence[str], role: Role) -> Encoded:
        """Vectors of texts that are not cached whole; truncated ones may be, by what is read of them."""
        if role == "query" or self._windowed is None:
            return self._embedded(texts, role)
        keys, seen = self._windowed.readings(texts)
        is_cut = np.array([bool(key) for key in keys])
        if not is_cut.any():
            return self._embedded(texts, role)
        cut, whole = np.flatnonzero(is_cut), np.flatnonzero(~is_cut)
        unique, first, inverse = np.unique(
            np.array([keys[i] for i in cut.tolist()], HASH), return_index=True, return_inverse=True
        )
        known, found = self._space(role).find(unique)
        new = np.flatnonzero(~found)
        rows = np.sort(np.concatenate([whole, cut[first[new]]]))
        if len(rows):
            part = self._embedded([texts[i] for i in rows.tolist()], role)
            seen.vectors[rows] = part.vectors
            put(known, new, take(part, np.searchsorted(rows, cut[first[new]])))
            self._add(role, unique[new], take(known, new))
        seen.vectors[cut] = known.vectors[inverse]
        self.texts_cached += len(texts) - len(rows)
        return seen

    def _embedded(self, texts: Sequence[str], role: Role) -> Encoded:
        encode = self._whole.encode_documents if role == "document" else self._whole.encode_queries
        encoded = encode(texts)
        self.texts_embedded += len(texts)
        self.embed_tokens += int(encoded.seen_tokens.sum())
        return encoded

    def _add(self, role: Role, hashes: Hashes, part: Encoded) -> None:
        self._store.add(self._space(role), self._whole.identity(), role, hashes, part)
