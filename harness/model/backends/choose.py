"""Which backend runs a model on this machine."""

from __future__ import annotations

import importlib.util
import logging
import platform
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from harness.errors import ModelError
from harness.model.backends import Loaded, UnfitError, Wanted
from harness.model.backends import converted as store
from harness.model.backends.openvino import load_converted
from harness.model.backends.torch import TorchBackend
from harness.model.backends.trial import AGREEMENT, Verdict, compare, known, remember, sample_ids
from harness.model.loading import fast_tokenizer, load_model, quiet

logger = logging.getLogger(__name__)


# Cells of a sweep alternate between a few models; more than four would only hold memory.
@lru_cache(maxsize=4)
def load(wanted: Wanted) -> Loaded:
    """The model in memory, once per process.

    ``wanted.backend`` auto takes OpenVINO where it is installed, agrees with torch and is not slower, and says so
    when it was not to be; openvino raises ``ModelError`` instead.
    """
    with quiet():
        if wanted.backend == "torch" or (wanted.backend == "auto" and not _on_cpu(wanted.device)):
            return _torch(wanted)
        try:
            return _openvino(wanted)
        except UnfitError as reason:
            if wanted.backend == "openvino":
                raise ModelError(
                    f"The model {wanted.name!r} can't run on openvino (model.backend) here: {reason}. "
                    "Use model.backend=torch, or auto.",
                    model=wanted.name,
                ) from reason
            level = logging.INFO if reason.expected else logging.WARNING
            logger.log(level, "The model %r runs on torch, because %s.", wanted.name, reason)
            return _torch(wanted)


def installed() -> bool:
    """True when OpenVINO can be imported."""
    return importlib.util.find_spec("openvino") is not None


def _torch(wanted: Wanted) -> Loaded:
    model = load_model(wanted.folder, wanted.device, wanted.name)
    if wanted.precision == "float16" and model.device.type == "cpu":
        raise ModelError(
            f"The model {wanted.name!r} can't run in float16 (model.precision) on a CPU. Choose float32 or bfloat16, or a GPU "
            "with model.device.",
            model=wanted.name,
        )
    return Loaded(TorchBackend(model, wanted.precision), fast_tokenizer(model, wanted.name))


def _openvino(wanted: Wanted) -> Loaded:
    if not installed():
        raise UnfitError("openvino is not installed (pip install openvino)", expected=True)
    if wanted.precision not in AGREEMENT:
        raise UnfitError(f"OpenVINO runs in {' or '.join(AGREEMENT)} here, not in {wanted.precision}")
    place = store.folder(wanted)
    usable = store.sound(place, wanted.cache_dir)
    if place.exists() and not usable:
        logger.warning("The converted model in %s is damaged; %r is converted again.", place, wanted.name)
    verdict = known(wanted) if usable else None
    if verdict is None:
        found = _tried(wanted, place, convert=not usable)
    else:
        _judge(wanted, verdict)
        found = load_converted(place, wanted.precision)
    return found


def _tried(wanted: Wanted, place: Path, *, convert: bool) -> Loaded:
    """Converts the model if need be and compares it with torch, which is what has to be loaded for both."""
    model = load_model(wanted.folder, "cpu", wanted.name)
    tokenizer = fast_tokenizer(model, wanted.name)
    if convert:
        store.convert(model, tokenizer, place, wanted.name)
    found = load_converted(place, wanted.precision)
    ids = sample_ids(tokenizer, wanted.longest)
    verdict = compare(model, wanted.precision, found.backend, ids)
    remember(wanted, verdict)
    _judge(wanted, verdict)
    return found


def _judge(wanted: Wanted, verdict: Verdict) -> None:
    if not verdict.agrees(wanted.precision):
        raise UnfitError(
            f"OpenVINO's vectors differ from torch's (least cosine {verdict.cosine:.6f} on a sample; "
            f"{AGREEMENT[wanted.precision]} is asked of {wanted.precision})"
        )
    if wanted.backend == "auto" and verdict.openvino_seconds > verdict.torch_seconds:
        raise UnfitError(
            f"OpenVINO is slower here ({verdict.openvino_seconds:.2f} s for a sample, torch {verdict.torch_seconds:.2f} s)",
            expected=True,
        )


def _on_cpu(device: str) -> bool:
    if device == "auto" and _gpu_likely():
        import torch

        return not (torch.cuda.is_available() or torch.backends.mps.is_available())
    return device in {"auto", "cpu"}


def _gpu_likely() -> bool:
    """Whether it is worth importing torch, which takes seconds, to ask for a GPU."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if metadata.version("torch").endswith("+cpu"):
        return False
    nodes = ("nvidia[0-9]*", "kfd", "dxg")
    return sys.platform == "win32" or any(any(Path("/dev").glob(node)) for node in nodes)
