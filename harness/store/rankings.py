"""Cached rankings: another k, budget or metric needs no embedding and no search.

A ranking is cached by everything that can change it: chunks, model, index, retriever and questions. A damaged
archive is searched for again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.records import Chunks, Encoded, FloatArray, IntArray, Kind, Question, Ranking
from harness.retriever import LATENCY_DEPTH, Depth, Prepared, Retriever, VectorIndex
from harness.store.arrays import CachedArrays, digest
from harness.store.embeddings import CachedModel
from harness.text.tokens import TokenMap

_SCHEME = 1


class CachedRetriever:
    """A retriever that reads what was ranked before, and is built only when something is missing.

    ``settings``: those of the retriever, the index and whatever else may change a ranking besides chunks,
    model and questions. ``corpus_digest`` stands for the documents' texts.
    """

    def __init__(
        self,
        retriever: Retriever,
        model: CachedModel,
        index: VectorIndex,
        folder: Path | None,
        settings: Mapping[str, Any],
        corpus_digest: str,
    ) -> None:
        self._retriever = retriever
        self._model, self._index = model, index
        self._root = folder
        self._settings = settings
        self._corpus_digest = corpus_digest
        self._is_built = False

    @property
    def uses_model(self) -> bool:
        """Whether the retriever needs the model; if not, a cached ranking serves with every model."""
        return self._retriever.uses_model

    def prepare(
        self,
        chunks: Chunks,
        tokens: Sequence[TokenMap],
        questions: Mapping[Kind, Sequence[Question]],
        ks: Sequence[int],  # noqa: ARG002 - the same
        metrics: Depth,  # noqa: ARG002 - the same
    ) -> Prepared:
        """Stores ``chunks`` and builds nothing yet. Raises ``ModelError`` when the model can't be found."""
        spans = hashlib.sha256()
        for column in (chunks.doc, chunks.start, chunks.end):
            spans.update(np.ascontiguousarray(column, np.int64).tobytes())
        for line in chunks.context:
            spans.update(f"{line}\0".encode("utf-8", "surrogatepass"))
        # Texts with other line ends than "\n" were once indexed as they are: only they are ranked again.
        has_returns = any("\r" in document.text for document in chunks.documents)
        key = {
            "scheme": _SCHEME + has_returns,
            "settings": self._settings,
            "corpus": self._corpus_digest,
            "chunks": spans.hexdigest(),
            "model": dict(self._model.identity()) if self.uses_model else {},
        }
        self._cache = CachedArrays(self._root, key)
        self._chunks = chunks
        self._is_built = False
        texts = [question.text for some in questions.values() for question in some]
        find = getattr(self._retriever, "problems", None)
        problems = find(chunks, texts) if find and texts else {}
        counts, examples = ({name: given[i] for name, given in problems.items()} for i in (0, 1))
        return Prepared(chunks, tokens, counts, examples)

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The cached ranking cut at ``depth``, or a new one where none is deep enough."""
        name = f"ranking-{digest(json.dumps([list(questions), _grouping(groups)]))}"
        cached = self._cache.read(name)
        if cached is not None and cached["rows"].shape[1] >= depth:
            return Ranking(cached["rows"][:, :depth].astype(np.int64), cached["scores"][:, :depth])
        ranking = self._built().search(questions, depth, groups)
        self._cache.write(name, rows=ranking.rows.astype(np.int32), scores=ranking.scores)
        return ranking

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """The cached ranks for these questions and these relevant rows, or new ones."""
        asked = [list(questions), _grouping(groups), [rows.tolist() for rows in relevant]]
        name = f"ranks-{digest(json.dumps(asked))}"
        cached = self._cache.read(name)
        if cached is not None:
            return np.asarray(cached["ranks"], np.int64)
        ranks = self._built().first_ranks(questions, relevant, groups)
        self._cache.write(name, ranks=ranks)
        return ranks

    def encoded(self) -> Encoded | None:
        """What the model read of each chunk row; the vectors are left out."""
        cached = self._cache.read("seen")
        if cached is None:
            encoded = self._built().encoded()
            columns = {} if encoded is None else dict(zip(Encoded._fields[1:], encoded[1:], strict=True))
            self._cache.write("seen", **columns)
            return encoded
        if not cached:
            return None
        rows = len(cached["tokens"])
        return Encoded(
            np.zeros((rows, 0), np.float32), cached["tokens"], cached["seen_tokens"], cached["seen_chars"]
        )

    def measurements(self) -> Mapping[str, float]:
        """Those of the retriever; when nothing had to be built, its cached sizes and zero seconds."""
        if self._is_built:
            measured = dict(self._retriever.measurements())
            self._cache.write("measured", **{name: np.array([value]) for name, value in measured.items()})
            return measured
        cached = self._cache.read("measured") or {}
        return {name: 0.0 if name.endswith("_seconds") else float(value[0]) for name, value in cached.items()}

    def search_ms(self, questions: Sequence[str]) -> FloatArray:
        """Milliseconds of searching for each question alone, without encoding it."""
        cached = None if self._is_built else self._cache.read("latency")
        if cached is not None and len(cached["ms"]) >= len(questions):
            return np.asarray(cached["ms"][: len(questions)], np.float64)
        retriever, taken = self._built(), []
        for question in questions:
            started = time.perf_counter()
            retriever.search([question], LATENCY_DEPTH)
            taken.append(1000 * (time.perf_counter() - started))
        self._cache.write("latency", ms=np.array(taken, np.float64))
        return np.array(taken, np.float64)

    def answer(self, question: str, depth: int = LATENCY_DEPTH) -> list[str]:
        """The texts of the first ``depth`` rows, as indexed; the cache is not used."""
        retriever = self._built()
        with self._model.live():
            rows = retriever.search([question], depth).rows[0]
        return list(self._chunks.embed_texts(rows[rows >= 0]))

    def _built(self) -> Retriever:
        if not self._is_built:
            self._retriever.build(self._chunks, self._model, self._index)
            self._is_built = True
        return self._retriever


def _grouping(groups: IntArray | None) -> str | bool:
    """What stands for the ranked groups, if any, in a file's name."""
    return groups is not None and hashlib.sha256(np.ascontiguousarray(groups, np.int64).tobytes()).hexdigest()
