"""Latency for a decision: single queries on one thread, encoding and reranking included, the cells taking turns.

What a sweep notes on the way is measured under whatever load there is; this is measured for nothing else.
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
from harness.records import FloatArray

QUERIES = 50
_WARM_UP = 3


def query_ms(configs: Mapping[str, Mapping[str, Any]], queries: int = QUERIES) -> dict[str, FloatArray]:
    """Milliseconds of each of the first ``queries`` questions in each cell: name to float64 (queries,).

    ``configs``: cell name to its whole configuration. It runs in a process of its own, held to one core. Raises what making the parts
    raises: documents or models that are not here.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_on_one_core) as pool:
        return pool.submit(_measured, dict(configs), queries).result()


def _on_one_core() -> None:
    """Everything that counts cores, in whatever library, then counts one."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _measured(configs: Mapping[str, Mapping[str, Any]], queries: int) -> dict[str, FloatArray]:
    shared = Shared()
    ready = {name: shared.components(OmegaConf.create(dict(config))) for name, config in configs.items()}
    for cell in ready.values():
        pipeline.prepare(cell)
    questions = next(iter(ready.values())).inputs.labels.questions
    texts = [question.text for question in questions[:queries]]
    for made in ready.values():
        for text in texts[:_WARM_UP]:
            _timed(made, text)
    taken = {name: [] for name in ready}  # type: dict[str, list[float]]
    for text in texts:
        for name, made in ready.items():
            taken[name].append(_timed(made, text))
    return {name: np.array(times) for name, times in taken.items()}


def _timed(cell: Components, text: str) -> float:
    started = time.perf_counter()
    cell.retriever.answer(text)
    return 1000 * (time.perf_counter() - started)


def percentiles(times: FloatArray) -> tuple[float, float]:
    """The median and the 95th percentile, ms."""
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))
