"""Approximate search on a graph of neighbours (HNSW), by faiss."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from harness.errors import SettingError, whole
from harness.index.candidates import AT_ONCE, CandidateIndex
from harness.records import Float32Array, IntArray


class HnswIndex(CandidateIndex):
    """A graph of neighbours (Malkov and Yashunin 2016): a search compares a small part of all vectors.

    ``ef``: the candidates of a search; it returns no more than these. ``m``: neighbours of
    each vector. ``ef_build``: as ``ef``, while the graph is built. It is built on one thread, since the order
    of insertion shapes it: the same vectors give the same graph. Needs faiss (extra ``ann``). Raises
    ``SettingError`` for a value that is not allowed, or without faiss.
    """

    def __init__(self, ef: int = 200, m: int = 32, ef_build: int = 200) -> None:
        self._ef = whole(ef, "index.ef", 1, of="vectors")
        self._m = whole(m, "index.m", 2, of="neighbours")
        self._ef_build = whole(ef_build, "index.ef_build", 1, of="vectors")
        if find_spec("faiss") is None:
            raise SettingError(
                "index=hnsw needs faiss, which is not installed: pip install 'retrieval-harness[ann]' (or "
                "faiss-cpu), or choose index=exact, int8 or binary.",
                key="index",
            )
        super().__init__(ef, exact_scores=True)

    def megabytes(self) -> float:
        """Size of vectors and graph, in MB (10^6 bytes)."""
        graph = self._graph.hnsw
        links = 4 * graph.neighbors.size() + 8 * graph.offsets.size() + 4 * graph.levels.size()
        return float(self._graph.ntotal * self._graph.d * 4 + links) / 1e6

    def _prepare(self, vectors: Float32Array) -> None:
        faiss = _faiss()
        self._graph: Any = faiss.IndexHNSWFlat(int(vectors.shape[1]), self._m, faiss.METRIC_INNER_PRODUCT)
        self._graph.hnsw.efConstruction = self._ef_build
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            for first in range(0, len(vectors), AT_ONCE):
                self._graph.add(np.ascontiguousarray(vectors[first : first + AT_ONCE], np.float32))
        finally:
            faiss.omp_set_num_threads(threads)

    def _candidates(self, queries: Float32Array, count: int) -> tuple[IntArray, Float32Array]:
        settings = _faiss().SearchParametersHNSW(efSearch=self._ef)
        scores, vectors = self._graph.search(
            np.ascontiguousarray(queries, np.float32), count, params=settings
        )
        return vectors.astype(np.int64), scores


def _faiss() -> Any:
    """The library; its stubs leave out what is used here."""
    import faiss

    return faiss
