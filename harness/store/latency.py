"""How long a model takes to encode one question; kept beside its embeddings.

It is measured whenever the model is in memory anyway. A cell whose embeddings are all cached takes the newest measurement
instead: loading weights only to time them would cost more than everything else the cell does.
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

# What this process has measured: once is enough, and a cell more would cost a quarter of a second.
_MEASURED: set[Path] = set()


def encode_ms(model: CachedModel, questions: Sequence[str]) -> FloatArray:
    """Milliseconds of encoding each of ``questions`` alone, float64 (questions,).

    The first question is encoded once unmeasured: loading and warming up is no latency. Raises ``ModelError`` when the model can't be loaded.
    """
    file = model.folder("query") / "latency.json"
    machine = f"{platform.node()} {platform.machine()} {os.cpu_count()}"
    kept = [] if model.texts_embedded and file not in _MEASURED else _kept(file, machine)
    if len(kept) < len(questions):
        kept = _measured(model, questions)
        _MEASURED.add(file)
        if file.parent.is_dir():
            write_json(file, {machine: kept})
    return np.array(kept[: len(questions)], np.float64)


def _kept(file: Path, machine: str) -> list[float]:
    try:
        kept: list[float] = json.loads(file.read_text(encoding="utf-8"))[machine]
    except (OSError, ValueError, KeyError):
        return []
    return kept


def _measured(model: CachedModel, questions: Sequence[str]) -> list[float]:
    model.encode_anew(questions[:1])
    taken = []
    for question in questions:
        started = time.perf_counter()
        model.encode_anew([question])
        taken.append(1000 * (time.perf_counter() - started))
    return taken
