"""How long a model takes to encode one question: measured once per model and machine, and kept beside its embeddings.

Measuring it again for every cell would load the weights of models whose embeddings are all cached.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence

import numpy as np

from harness.records import FloatArray
from harness.store.cells import write_json
from harness.store.embeddings import CachedModel


def encode_ms(model: CachedModel, questions: Sequence[str]) -> FloatArray:
    """Milliseconds of encoding each of ``questions`` alone, float64 (questions,).

    Taken from what was measured before where that was at least as many questions on this machine. The first question is encoded once
    unmeasured: loading and warming up is no latency. Raises ``ModelError`` when the model can't be loaded.
    """
    file = model.folder("query") / "latency.json"
    machine = f"{platform.node()} {platform.machine()} {os.cpu_count()}"
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))[machine]
    except (OSError, ValueError, KeyError):
        kept = []
    if len(kept) < len(questions):
        kept = _measured(model, questions)
        if file.parent.is_dir():
            write_json(file, {machine: kept})
    return np.array(kept[: len(questions)], np.float64)


def _measured(model: CachedModel, questions: Sequence[str]) -> list[float]:
    model.encode_anew(questions[:1])
    taken = []
    for question in questions:
        started = time.perf_counter()
        model.encode_anew([question])
        taken.append(1000 * (time.perf_counter() - started))
    return taken
