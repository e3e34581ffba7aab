"""Latency for a decision: single queries on one thread, with encoding and reranking, cell by cell.

A sweep also notes latencies, but under the load of the sweep.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from harness.cell import pipeline
from harness.cell.build import Components, Shared

QUERIES = 50
_WARM_UP = 3
# Cells that are measured side by side; their indexes are in memory together.
_AT_ONCE = 8


def query_ms_p95(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """The 95th percentile of each cell in milliseconds; ``configs``: cell name to its whole configuration.

    Cells are measured in a process of its own, on one core, with the first 50 questions.
    Raises ``HarnessError`` for documents or models that are not on this machine.
    """
    names = list(configs)
    found: dict[str, float] = {}
    for first in range(0, len(names), _AT_ONCE):
        some = {name: dict(configs[name]) for name in names[first : first + _AT_ONCE]}
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_on_one_core) as pool:
            found |= pool.submit(_measured, some).result()
    return found


def _on_one_core() -> None:
    """Limits every library that counts cores to one."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _measured(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    shared = Shared()
    ready = {name: shared.components(OmegaConf.create(dict(config))) for name, config in configs.items()}
    for cell in ready.values():
        pipeline.prepare(cell)
    questions = next(iter(ready.values())).inputs.labels.questions
    texts = [question.text for question in questions[:QUERIES]]
    for made in ready.values():
        for text in texts[:_WARM_UP]:
            _timed(made, text)
    taken = {name: [] for name in ready}  # type: dict[str, list[float]]
    for text in texts:
        for name, made in ready.items():
            taken[name].append(_timed(made, text))
    return {name: float(np.percentile(times, 95)) for name, times in taken.items()}


def _timed(cell: Components, text: str) -> float:
    started = time.perf_counter()
    cell.retriever.answer(text)
    return 1000 * (time.perf_counter() - started)
