"""Compares an engine with torch on this machine: whether its vectors agree and it is not slower."""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import re
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.files.atomic import write_bytes
from harness.model.backends import Backend, BackendRequest, cores
from harness.model.backends.converted import versions
from harness.model.backends.engines import Engine
from harness.model.backends.torch import TorchBackend
from harness.model.window import Window
from harness.records import Float32Array, IntArray

logger = logging.getLogger(__name__)

# The least cosine of a text's two vectors, the one to compare with always by torch in float32.
# int8 changes rankings: MiniLM is at 0.986 (0.991 in the mean), and below this a model is another one.
AGREEMENT = {"float32": 0.99999, "bfloat16": 0.9999, "int8": 0.97}


# Texts on which backends are compared and timed.
COUNT = 32
_CPUS = Path("/proc/cpuinfo")
_PROSE = (
    "The ferry leaves the harbour at seven, unless the wind is stronger than force eight; then it waits. "
    "Tickets cost 12.50 for adults and 6 for children under fourteen, bicycles travel free. Whoever misses "
    "the last boat finds two guest houses behind the lighthouse, both of which serve soup until midnight. "
    "In winter the island has ninety-three inhabitants, a school with one teacher, and a doctor who comes "
    "on Thursdays. Letters are flown in when the sea is frozen. The old lamp was replaced in 1987 by a "
    "rotating mirror that is seen from forty kilometres away; its keeper still climbs the 214 steps every "
    "evening, out of habit, as he says. Error E-4711 on the ticket machine means that the paper has run "
    "out: press RESET, wait for the green light, and try again. Größere Gruppen melden sich bitte vorher "
    "an. Le dernier bateau part à dix-neuf heures. El faro está abierto los domingos. Паром уходит в семь "
    "часов. 渡し船は七時に出ます。 for row in table: total += row[3] * 0.19  # tax "
)


class BackendTrial(NamedTuple):
    """``cosine``: the least over the sample. Seconds are for the sample, the best of a few runs."""

    cosine: float
    torch_seconds: float
    seconds: float

    def agrees(self, precision: str) -> bool:
        """True when the vectors may stand in for torch's."""
        return self.cosine >= AGREEMENT[precision]


def sample() -> list[str]:
    """32 texts of 1 to about 200 words, each a fifth longer than the one before; no two begin alike."""
    words = _PROSE.split() * 3
    lengths = (max(round(1.186**i), i + 1) for i in range(COUNT))
    return [" ".join(words[5 * i : 5 * i + length]) for i, length in enumerate(lengths)]


def sample_ids(tokenizer: Any, longest: int) -> Sequence[IntArray]:
    """The sample in the model's tokens."""
    return Window(tokenizer, longest).read(sample(), "").ids


def least_cosine(these: Float32Array, those: Float32Array) -> float:
    """The least cosine of two rows; -1 for nan."""
    left, right = these.astype(np.float64), those.astype(np.float64)
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines = (left * right).sum(axis=1) / np.where(norms > 0, norms, 1.0)
    return float(np.nan_to_num(cosines, nan=-1.0).min())


def compare(model: Any, precision: str, backend: Backend, ids: Sequence[IntArray]) -> BackendTrial:
    """Runs both. ``model``: a ``SentenceTransformer`` in float32 on the CPU, turned to bfloat16 in place."""
    torch_backend = TorchBackend(model, "float32")
    reference, first_seconds = _timed(torch_backend, ids)
    if precision == "bfloat16":
        torch_backend = TorchBackend(model, precision)
        first_seconds = _timed(torch_backend, ids)[1]
    # The first run pays for code that is made for each length of text, so it is not timed.
    cosine = least_cosine(reference, backend.encode(ids))
    rounds = [(_timed(backend, ids)[1], _timed(torch_backend, ids)[1]) for _ in range(2)]
    seconds, torch_seconds = map(min, zip(*rounds, strict=True))
    return BackendTrial(cosine, min(first_seconds, torch_seconds), seconds)


def _timed(backend: Backend, ids: Sequence[IntArray]) -> tuple[Float32Array, float]:
    began = time.perf_counter()
    vectors = backend.encode(ids)
    return vectors, time.perf_counter() - began


def known(wanted: BackendRequest, engine: Engine) -> BackendTrial | None:
    """What was found before for the same model, precision, versions and CPU."""
    try:
        entry = json.loads(_note(wanted, engine).read_text(encoding="utf-8"))
        return BackendTrial(*(float(entry[field]) for field in BackendTrial._fields))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(wanted: BackendRequest, engine: Engine, verdict: BackendTrial) -> None:
    """Caches the trial under ``cache_dir/backends``; if that can't be written, it is run each time."""
    note = _note(wanted, engine)
    entry = {"model": wanted.name, **_key(wanted, engine), **verdict._asdict()}
    try:
        write_bytes(note, json.dumps(entry, indent=1).encode())
    except OSError as error:
        logger.debug("The comparison of backends could not be cached in %s: %s", note, error)


def _note(wanted: BackendRequest, engine: Engine) -> Path:
    digest = hashlib.sha256(json.dumps(_key(wanted, engine), sort_keys=True).encode()).hexdigest()
    return Path(wanted.cache_dir) / "backends" / f"{digest[:32]}.json"


def _key(wanted: BackendRequest, engine: Engine) -> Mapping[str, Any]:
    return {
        "digest": wanted.digest,
        "engine": engine.name,
        "precision": wanted.precision,
        "versions": versions(engine),
        "cores": cores(),
        "cpu": cpu_name(),  # a cache folder may be shared by machines that differ
    }


@lru_cache(maxsize=1)
def cpu_name() -> str:
    """What the CPU is called: its model where the system tells, else its architecture."""
    try:
        told = re.search(r"^model name\s*:\s*(.+)$", _CPUS.read_text(encoding="utf-8"), re.MULTILINE)
    except (OSError, ValueError):
        told = None
    return told[1] if told else platform.processor() or platform.machine()
