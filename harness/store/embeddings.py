"""Embeddings that are computed once: by model, role and text, on disk, shared by cells and processes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from harness.progress import bar
from harness.records import Encoded, IntArray
from harness.store.embedding_store import NOTE, EmbeddingStore, Role, unwritable
from harness.store.encoder import Derived, Encoder, Windowed
from harness.store.shard import HASH, Hashes, put, take
from harness.store.space import Space
from harness.store.used import mark_used

# A slice is what kill -9 costs at most: it starts with so many texts and doubles while slices take under two seconds.
SLICE_TEXTS = 32
LARGEST_SLICE = 8_192
_SLICE_SECONDS = 2.0


class CachedModel:
    """A model that computes no text twice; it keeps the same promises as the model it wraps.

    Passages that a model reads to its window only, and that agree so far, are one text to it, whatever follows.

    Counters, over all calls: ``texts_embedded`` (computed), ``texts_cached`` (the rest: kept from before, or the same
    to the model), ``embed_seconds`` and ``embed_tokens`` (time and seen tokens of what was computed).
    """

    def __init__(self, model: Encoder, store: EmbeddingStore) -> None:
        self.name = model.name
        self.texts_embedded = 0
        self.texts_cached = 0
        self.embed_seconds = 0.0
        self.embed_tokens = 0
        self._model = model
        self._derived = model if isinstance(model, Derived) else None
        self._kept: Encoder = model if self._derived is None else self._derived.whole()
        self._windowed = self._kept if isinstance(self._kept, Windowed) else None
        self._store = store
        self._spaces: dict[Role, Space] = {}
        self._is_live = False

    def identity(self) -> Mapping[str, Any]:
        """The wrapped model's identity."""
        return self._model.identity()

    def place(self) -> str | None:
        """Where on this machine the wrapped model's files are, or None."""
        return self._model.place()

    def agreement(self) -> float | None:
        """The wrapped model's agreement with its exact vectors."""
        return self._model.agreement()

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages; only those that were never computed cost anything."""
        encoded = self._encode(texts, "document")
        if self._derived is None:
            return encoded
        self._derived.check(encoded, texts)
        return self._derived.cut(encoded)

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions; only those that were never computed cost anything."""
        if self._is_live:
            return self._model.encode_queries(texts)
        encoded = self._encode(texts, "query")
        return encoded if self._derived is None else self._derived.cut(encoded)

    @contextmanager
    def live(self) -> Iterator[None]:
        """Questions come straight from the model while the block runs, as in production: nothing is read or kept."""
        self._is_live = True
        try:
            yield
        finally:
            self._is_live = False

    def cached(self, texts: Sequence[str], role: Role) -> int:
        """How many of the texts need no computing. Loads no weights."""
        unique, _, inverse = _unique(texts)
        if not len(unique):
            return 0
        counts = np.bincount(inverse, minlength=len(unique))
        return int(counts[self._space(role).has(unique)].sum())

    def copy(self, texts: Sequence[str], role: Role, store: EmbeddingStore) -> None:
        """Puts the vectors of ``texts`` into another store too. Raises ``StoreError`` when it can't be written."""
        unique, first, _ = _unique(texts)
        encoded = self._encode([texts[i] for i in first.tolist()], role)
        space = store.space(self._kept.identity(), role)
        store.prepare(space, self._kept.identity(), role)
        self._keep(space, role, unique, encoded)

    @property
    def is_rounded(self) -> bool:
        """True when the store keeps less than float32, so that scores are rounded."""
        return self._store.dtype != "float32"

    def missing(self, texts: Sequence[str], role: Role) -> list[str]:
        """The different texts that would have to be computed, sorted by their hash. Loads no weights."""
        unique, first, _ = _unique(texts)
        return [texts[i] for i in first[~self._space(role).has(unique)].tolist()] if len(unique) else []

    def folder(self, role: Role) -> Path:
        """Where the embeddings of this role are kept; it may not exist yet."""
        return self._space(role).folder

    def counts(self) -> dict[str, float]:
        """The counters by name, over all calls so far."""
        return {
            "texts_embedded": self.texts_embedded,
            "texts_cached": self.texts_cached,
            "embed_seconds": self.embed_seconds,
            "embed_tokens": self.embed_tokens,
        }

    def encode_anew(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions straight from the model, for timing it; loads the weights if need be."""
        return self._model.encode_queries(texts)

    def _space(self, role: Role) -> Space:
        if role not in self._spaces:
            self._spaces[role] = self._store.space(self._kept.identity(), role)
        return self._spaces[role]

    def _encode(self, texts: Sequence[str], role: Role) -> Encoded:
        """The vectors that are kept, before anything is cut off them."""
        unique, first, inverse = _unique(texts)
        space = self._space(role)
        # Without repetitions the rows are put where they belong at once: no second copy of a million vectors.
        places = first if len(unique) == len(texts) else np.arange(len(unique))
        result, found = space.find(unique, places)
        missing = np.flatnonzero(~found)
        if len(missing):
            self._store.prepare(space, self._kept.identity(), role)
            lengths = np.fromiter((len(texts[first[i]]) for i in missing), dtype=np.int64, count=len(missing))
            # Longest first: slices of like length need little padding, and the estimate of what remains is cautious.
            missing = missing[np.argsort(-lengths, kind="stable")]
            for rows, part in self._slices(texts, first, missing, role):
                self._keep(space, role, unique[rows], part)
                put(result, places[rows], self._store.as_kept(part))
            space.tidy()
        if len(unique):
            mark_used(space.folder / NOTE)
        self.texts_cached += len(texts) - len(missing)
        return result if len(unique) == len(texts) else take(result, inverse)

    def _slices(
        self,
        texts: Sequence[str],
        first: IntArray,
        missing: IntArray,
        role: Role,
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
                if self._derived is not None and role == "document":
                    # The longest come first, so what is refused is refused at once.
                    self._derived.check(part, given)
                progress.update(len(rows))
                start += len(rows)
                size = min(size * 2, LARGEST_SLICE) if seconds < _SLICE_SECONDS else size

    def _computed(self, texts: Sequence[str], role: Role) -> Encoded:
        """Vectors of texts that are kept under none of their hashes: of passages that are cut off, under what is read of them."""
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
            self._keep(self._space(role), role, unique[new], take(known, new))
        seen.vectors[cut] = known.vectors[inverse]
        self.texts_cached += len(texts) - len(rows)
        return seen

    def _embedded(self, texts: Sequence[str], role: Role) -> Encoded:
        encode = self._kept.encode_documents if role == "document" else self._kept.encode_queries
        encoded = encode(texts)
        self.texts_embedded += len(texts)
        self.embed_tokens += int(encoded.seen_tokens.sum())
        return encoded

    def _keep(self, space: Space, role: Role, hashes: Hashes, part: Encoded) -> None:
        try:
            try:
                space.add(hashes, part)
            except FileNotFoundError:
                # Somebody removed the folder while the model was at work.
                self._store.prepare(space, self._kept.identity(), role)
                space.add(hashes, part)
        except OSError as error:
            kept = sum(len(shard) for shard in space.shards())
            raise unwritable(self._store.folder, error, kept) from error


def _unique(texts: Sequence[str]) -> tuple[Hashes, IntArray, IntArray]:
    """Hashes of the different texts (sorted), the place of each one's first text, and the hash of every text."""
    hashes = b"".join(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts)
    unique, first, inverse = np.unique(
        np.frombuffer(hashes, dtype=HASH), return_index=True, return_inverse=True
    )
    return unique, first.astype(np.int64), inverse.astype(np.int64)
