"""How long a cell takes: seconds by stage, and milliseconds for one question."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from harness.cell.build import Components
from harness.records import FloatArray
from harness.store.latency import encode_ms

LATENCY_QUESTIONS = 20


def latency(cell: Components) -> dict[str, float]:
    """Milliseconds for one question at a time: p50 and p95 over the first questions.

    Encoding and reranking are included where there is any.
    """
    texts = [question.text for question in cell.inputs.labels.questions[:LATENCY_QUESTIONS]]
    total: FloatArray = cell.retriever.search_ms(texts)
    if cell.retriever.uses_model:
        total = total + encode_ms(cell.model, texts)
    total = total[~np.isnan(total)]  # what was not answered took no time that counts
    p50, p95 = np.percentile(total, (50, 95)).tolist() if len(total) else (np.nan, np.nan)
    return {"query_ms_p50": p50, "query_ms_p95": p95}


class Seconds:
    """Where the time of a cell goes.

    The retriever embeds and builds on its first search; what is left is searching.
    """

    def __init__(self, cell: Components) -> None:
        self._cell = cell
        self._model, self._reranked = cell.model.counts(), cell.reranker.seconds
        self._spent: dict[str, float] = {}

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Adds the time spent inside to the stage's."""
        with timed(self._spent, stage):
            yield

    def timing(self) -> dict[str, float]:
        """Seconds by stage as ``<stage>_seconds``, and what was embedded and found in the cache."""
        counts = {name: value - self._model[name] for name, value in self._cell.model.counts().items()}
        within = {
            "embed": counts.pop("embed_seconds"),
            "index": self._cell.retriever.measurements().get("index_seconds", 0.0),
        }
        if self._cell.reranker.depth:
            within["rerank"] = self._cell.reranker.seconds - self._reranked
        spent = self._spent | within | {"search": self._spent["search"] - sum(within.values())}
        return {f"{stage}_seconds": value for stage, value in spent.items()} | counts


@contextmanager
def timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Adds the time spent inside to ``seconds[stage]``."""
    started = time.perf_counter()
    try:
        yield
    finally:
        seconds[stage] = seconds.get(stage, 0.0) + time.perf_counter() - started
