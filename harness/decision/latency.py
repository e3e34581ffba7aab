"""Latency for a decision: single questions on one core, with encoding and reranking, cells in turns.

A sweep also notes latencies in passing, but under its own load and of one cell after the other.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from omegaconf import OmegaConf

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.errors import HarnessError
from harness.verdict import Verdict
from harness.verdict.latency import P95_FROM, Latency

QUESTIONS = P95_FROM
PASSES = 5
# Of few questions each is measured more often: so many measurements of each cell.
_MEASUREMENTS = 300
# After so many seconds a pass that is complete is the last: cross-encoders take seconds for each question.
_SECONDS = 60.0
_LEAST_PASSES = 2
_WARM_UP = 3
# Cells that are measured in turns; their indexes are in memory together.
_AT_ONCE = 8
# What runs for a moment beside the measurement does not count as load.
_SPARE = 0.5


class Measured(NamedTuple):
    """Latencies by cell. ``load``: how many processes wanted a core meanwhile, nan where unknown."""

    cells: Mapping[str, Latency]
    load: float

    def to_json(self) -> dict[str, Any]:
        """What was measured, of each cell, and under what load."""
        load = None if math.isnan(self.load) else round(self.load, 2)
        cells = {name: latency.to_json() for name, latency in self.cells.items()}
        return {"load": load, "cores": os.cpu_count() or 1, "cells": cells}


def worth_measuring(
    verdict: Verdict, costs: Mapping[str, Mapping[str, float]], order: Sequence[str]
) -> list[str]:
    """The best observed cell and its possible substitutes, unless an earlier cost decides already."""
    best = verdict.standings[0].name
    names = [s.name for s in verdict.standings if s.non_inferior or best in {s.name, s.same_as}]
    before = order[: order.index("query_ms")]
    least = {key: np.nanmin([costs[name][key] for name in names]) for key in before}
    near = [name for name in names if all(costs[name][key] <= 1.05 * least[key] for key in before)]
    return near if len(near) > 1 else []


def measured(configs: Mapping[str, Mapping[str, Any]]) -> Measured:
    """The latency of each cell; ``configs``: cell name to its whole configuration.

    Cells are measured in a process of their own, on one core, with up to 60 questions from the whole set.
    More than eight cells are measured in groups. Raises ``HarnessError`` for documents or models that are not
    on this machine, and when more processes want a core than there are cores.
    """
    names = list(configs)
    cells: dict[str, Latency] = {}
    loads = []
    for group, first in enumerate(range(0, len(names), _AT_ONCE)):
        some = {name: dict(configs[name]) for name in names[first : first + _AT_ONCE]}
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_on_one_core) as pool:
            found = pool.submit(_of_group, some, group).result()
        cells |= found.cells
        loads.append(found.load)
    load, cores = float(np.max(loads)), os.cpu_count() or 1
    if load > cores + _SPARE:
        raise HarnessError(
            f"{load:.1f} processes want a core at a time, and the machine has {cores}. "
            "Run pick again when less is running."
        )
    return Measured(cells, load)


def _on_one_core() -> None:
    """Limits every library that counts cores to one."""
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _of_group(configs: Mapping[str, Mapping[str, Any]], group: int) -> Measured:
    shared = Shared()
    ready = {name: shared.components(OmegaConf.create(dict(config))) for name, config in configs.items()}
    for cell in ready.values():
        pipeline.prepare(cell)
    questions = next(iter(ready.values())).inputs.labels.questions
    places = np.linspace(0, len(questions) - 1, min(QUESTIONS, len(questions))).round().astype(int)
    texts = [questions[place].text for place in places.tolist()]
    return in_turns({name: cell.retriever.answer for name, cell in ready.items()}, texts, group)


def in_turns(
    answers: Mapping[str, Callable[[str], object]], texts: Sequence[str], group: int = 0
) -> Measured:
    """Every question is answered by all cells, in a new order each time; so drift hits all alike."""
    for answer in answers.values():
        for text in texts[:_WARM_UP]:
            answer(text)
    rng = np.random.default_rng(0)
    least = np.full((len(answers), len(texts)), np.inf)
    loads, passes, began = [], 0, time.monotonic()
    while passes < max(PASSES, math.ceil(_MEASUREMENTS / len(texts))):
        if passes >= _LEAST_PASSES and time.monotonic() - began > _SECONDS:
            break
        for i, text in enumerate(texts):
            for row in rng.permutation(len(answers)).tolist():
                least[row, i] = min(least[row, i], _ms(list(answers.values())[row], text))
            loads.append(_load())
        passes += 1
    cells = {name: Latency(ms, passes, group) for name, ms in zip(answers, least, strict=True)}
    return Measured(cells, float(np.mean(loads)))


def _ms(answer: Callable[[str], object], text: str) -> float:
    started = time.perf_counter()
    answer(text)
    return 1000 * (time.perf_counter() - started)


def _load() -> float:
    """How many processes run or wait for a core now, this one included.

    Where the system does not tell, the mean of the last minute, or nan.
    """
    try:
        running = Path("/proc/loadavg").read_text(encoding="ascii").split()[3]
        return float(running.partition("/")[0])
    except (OSError, ValueError, IndexError):
        return os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
