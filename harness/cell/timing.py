"""How long a cell takes: seconds by stage, and milliseconds for one question, noted in passing."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from harness.cell.build import Components
from harness.files.atomic import write_json
from harness.records import FloatArray
from harness.retriever import LATENCY_QUESTIONS
from harness.store.embeddings import CachedModel

# Latencies measured by this process: once is enough.
_MEASURED: set[Path] = set()


def latency(cell: Components) -> dict[str, float]:
    """Milliseconds for one question at a time, about: p50 and p95 over the first 20 questions.

    They are noted under the load of the sweep, so they do not compare cells. Encoding and reranking are
    included where there is any.
    """
    texts = [question.text for question in cell.inputs.labels.questions[:LATENCY_QUESTIONS]]
    total: FloatArray = cell.retriever.search_ms(texts)
    if cell.retriever.uses_model:
        total = total + encode_ms(cell.model, texts)
    total = total[~np.isnan(total)]  # what was not answered took no time that counts
    p50, p95 = np.percentile(total, (50, 95)).tolist() if len(total) else (np.nan, np.nan)
    return {"query_ms_p50": p50, "query_ms_p95": p95}


def encode_ms(model: CachedModel, questions: Sequence[str]) -> FloatArray:
    """Milliseconds of encoding each of ``questions`` alone, float64 (questions,).

    A model whose embeddings are all cached takes the newest measurement, which stands beside them: loading
    its weights only to time them would cost more than the rest of the cell. Before measuring, the first
    question is encoded once, so that loading and warming up do not count. Raises
    ``ModelError`` when the model can't be loaded.
    """
    file = model.folder("query") / "latency.json"
    machine = f"{platform.node()} {platform.machine()} {os.cpu_count()}"
    cached = [] if model.texts_embedded and file not in _MEASURED else _cached_ms(file, machine)
    if len(cached) < len(questions):
        cached = _measured_ms(model, questions)
        _MEASURED.add(file)
        if file.parent.is_dir():
            write_json(file, {machine: cached})
    return np.array(cached[: len(questions)], np.float64)


def _cached_ms(file: Path, machine: str) -> list[float]:
    try:
        cached: list[float] = json.loads(file.read_text(encoding="utf-8"))[machine]
    except (OSError, ValueError, KeyError):
        return []
    return cached


def _measured_ms(model: CachedModel, questions: Sequence[str]) -> list[float]:
    model.encode_anew(questions[:1])
    taken = []
    for question in questions:
        started = time.perf_counter()
        model.encode_anew([question])
        taken.append(1000 * (time.perf_counter() - started))
    return taken


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
