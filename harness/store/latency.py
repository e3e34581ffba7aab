"""How long a model takes to encode one question; cached beside its embeddings.

It is measured whenever the model is in memory anyway. A cell whose embeddings are all cached takes the newest
measurement instead: loading weights only to time them would cost more than the rest of the cell.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.files.atomic import write_json
from harness.records import FloatArray
from harness.store.embeddings import CachedModel

# Measured by this process: once is enough.
_MEASURED: set[Path] = set()


def encode_ms(model: CachedModel, questions: Sequence[str]) -> FloatArray:
    """Milliseconds of encoding each of ``questions`` alone, float64 (questions,).

    The first question is encoded once before, so that loading and warming up do not count. Raises
    ``ModelError`` when the model can't be loaded.
    """
    file = model.folder("query") / "latency.json"
    machine = f"{platform.node()} {platform.machine()} {os.cpu_count()}"
    cached = [] if model.texts_embedded and file not in _MEASURED else _cached(file, machine)
    if len(cached) < len(questions):
        cached = _measured(model, questions)
        _MEASURED.add(file)
        if file.parent.is_dir():
            write_json(file, {machine: cached})
    return np.array(cached[: len(questions)], np.float64)


def _cached(file: Path, machine: str) -> list[float]:
    try:
        cached: list[float] = json.loads(file.read_text(encoding="utf-8"))[machine]
    except (OSError, ValueError, KeyError):
        return []
    return cached


def _measured(model: CachedModel, questions: Sequence[str]) -> list[float]:
    model.encode_anew(questions[:1])
    taken = []
    for question in questions:
        started = time.perf_counter()
        model.encode_anew([question])
        taken.append(1000 * (time.perf_counter() - started))
    return taken
