"""An engine against torch on this machine, once for a model and a precision: whether it agrees, and is not slower."""

from __future__ import annotations

import hashlib
import json
import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.model.backends import Backend, Engine, Wanted
from harness.model.backends.converted import versions
from harness.model.backends.cores import cores, cpu_name
from harness.model.backends.sample import sample
from harness.model.backends.torch import TorchBackend
from harness.model.window import Window
from harness.records import Float32Array, IntArray

logger = logging.getLogger(__name__)

# The least cosine of a text's two vectors, the one to compare with always by torch in float32.
# int8 changes rankings: MiniLM is at 0.986 (0.991 in the mean), and below this a model is another one.
AGREEMENT = {"float32": 0.99999, "bfloat16": 0.9999, "int8": 0.97}


class Verdict(NamedTuple):
    """``cosine``: the least over the sample. ``torch_seconds``, ``seconds``: for the sample, the best of a few runs."""

    cosine: float
    torch_seconds: float
    seconds: float

    def agrees(self, precision: str) -> bool:
        """True when the vectors may stand in for torch's."""
        return self.cosine >= AGREEMENT[precision]


def sample_ids(tokenizer: Any, longest: int) -> Sequence[IntArray]:
    """The sample in the model's tokens."""
    return Window(tokenizer, longest).read(sample(), "").ids


def least_cosine(these: Float32Array, those: Float32Array) -> float:
    """The least cosine of two rows; -1 where one of them is no number."""
    left, right = these.astype(np.float64), those.astype(np.float64)
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines = (left * right).sum(axis=1) / np.where(norms > 0, norms, 1.0)
    return float(np.nan_to_num(cosines, nan=-1.0).min())


def compare(model: Any, precision: str, backend: Backend, ids: Sequence[IntArray]) -> Verdict:
    """Runs both. ``model``: a ``SentenceTransformer`` in float32 on the CPU, turned to ``precision`` in place where torch has it."""
    torch_backend = TorchBackend(model, "float32")
    reference, first_seconds = _timed(torch_backend, ids)
    if precision == "bfloat16":
        torch_backend = TorchBackend(model, precision)
        first_seconds = _timed(torch_backend, ids)[1]
    # The first run pays for code that is made for each length of text, so it is not timed.
    cosine = least_cosine(reference, backend.encode(ids))
    rounds = [(_timed(backend, ids)[1], _timed(torch_backend, ids)[1]) for _ in range(2)]
    seconds, torch_seconds = map(min, zip(*rounds, strict=True))
    return Verdict(cosine, min(first_seconds, torch_seconds), seconds)


def _timed(backend: Backend, ids: Sequence[IntArray]) -> tuple[Float32Array, float]:
    began = time.perf_counter()
    vectors = backend.encode(ids)
    return vectors, time.perf_counter() - began


def known(wanted: Wanted, engine: Engine) -> Verdict | None:
    """What was found before for the same model, precision, versions and CPU."""
    try:
        entry = json.loads(_note(wanted, engine).read_text(encoding="utf-8"))
        return Verdict(*(float(entry[field]) for field in Verdict._fields))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(wanted: Wanted, engine: Engine, verdict: Verdict) -> None:
    """Keeps the verdict under ``cache_dir/backends``; where that can't be written, the trial is run each time."""
    note = _note(wanted, engine)
    aside = note.with_name(f".{uuid.uuid4().hex}.part")
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        entry = {"model": wanted.name, **_key(wanted, engine), **verdict._asdict()}
        aside.write_text(json.dumps(entry, indent=1), encoding="utf-8")
        aside.replace(note)
    except OSError as error:
        logger.debug("The comparison of backends could not be kept in %s: %s", note, error)


def _note(wanted: Wanted, engine: Engine) -> Path:
    digest = hashlib.sha256(json.dumps(_key(wanted, engine), sort_keys=True).encode()).hexdigest()
    return Path(wanted.cache_dir) / "backends" / f"{digest[:32]}.json"


def _key(wanted: Wanted, engine: Engine) -> Mapping[str, Any]:
    return {
        "digest": wanted.digest,
        "engine": engine.name,
        "precision": wanted.precision,
        "versions": versions(engine),
        "cores": cores(),
        "cpu": cpu_name(),  # a cache folder may be shared by machines that differ
    }
