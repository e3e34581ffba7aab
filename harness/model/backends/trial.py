"""OpenVINO against torch on this machine, once for a model and a precision: whether it agrees, and is not slower."""

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

from harness.model.backends import Backend, Wanted
from harness.model.backends.converted import library, versions
from harness.model.backends.cores import cores
from harness.model.backends.sample import sample
from harness.model.backends.torch import TorchBackend
from harness.model.window import Window
from harness.records import Float32Array, IntArray

logger = logging.getLogger(__name__)

# The least cosine of a text's two vectors, the one to compare with always by torch in float32.
AGREEMENT = {"float32": 0.99999, "bfloat16": 0.9999}


class Verdict(NamedTuple):
    """``cosine``: the least over the sample. ``torch_seconds``, ``openvino_seconds``: for the sample, the best of a few runs."""

    cosine: float
    torch_seconds: float
    openvino_seconds: float

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


def compare(model: Any, precision: str, openvino_backend: Backend, ids: Sequence[IntArray]) -> Verdict:
    """Runs both. ``model``: a ``SentenceTransformer`` in float32 on the CPU, turned to ``precision`` in place."""
    torch_backend = TorchBackend(model, "float32")
    reference, first_seconds = _timed(torch_backend, ids)
    if precision != "float32":
        torch_backend = TorchBackend(model, precision)
        first_seconds = _timed(torch_backend, ids)[1]
    # The first run pays for code that is made for each length of text, so it is not timed.
    cosine = least_cosine(reference, openvino_backend.encode(ids))
    rounds = [(_timed(openvino_backend, ids)[1], _timed(torch_backend, ids)[1]) for _ in range(2)]
    openvino_seconds, torch_seconds = map(min, zip(*rounds, strict=True))
    return Verdict(cosine, min(first_seconds, torch_seconds), openvino_seconds)


def _timed(backend: Backend, ids: Sequence[IntArray]) -> tuple[Float32Array, float]:
    began = time.perf_counter()
    vectors = backend.encode(ids)
    return vectors, time.perf_counter() - began


def known(wanted: Wanted) -> Verdict | None:
    """What was found before for the same model, precision, versions and CPU."""
    try:
        entry = json.loads(_note(wanted).read_text(encoding="utf-8"))
        return Verdict(*(float(entry[field]) for field in Verdict._fields))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(wanted: Wanted, verdict: Verdict) -> None:
    """Keeps the verdict under ``cache_dir/backends``; where that can't be written, the trial is run each time."""
    note = _note(wanted)
    aside = note.with_name(f".{uuid.uuid4().hex}.part")
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        entry = {"model": wanted.name, **_key(wanted), **verdict._asdict()}
        aside.write_text(json.dumps(entry, indent=1), encoding="utf-8")
        aside.replace(note)
    except OSError as error:
        logger.debug("The comparison of backends could not be kept in %s: %s", note, error)


def _note(wanted: Wanted) -> Path:
    digest = hashlib.sha256(json.dumps(_key(wanted), sort_keys=True).encode()).hexdigest()
    return Path(wanted.cache_dir) / "backends" / f"{digest[:32]}.json"


def _key(wanted: Wanted) -> Mapping[str, Any]:
    return {
        "digest": wanted.digest,
        "precision": wanted.precision,
        "versions": versions(),
        "cores": cores(),
        "cpu": _cpu(),
    }


def _cpu() -> str:
    """The CPU's name: a cache folder may be shared by machines that differ."""
    return str(library().Core().get_property("CPU", "FULL_DEVICE_NAME"))
