"""Which backend runs a model on this machine."""

from __future__ import annotations

import logging
import platform
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from harness.errors import ModelError
from harness.model.backends import BackendRequest, LoadedModel, UnfitError, converted
from harness.model.backends.engines import ENGINES, Engine
from harness.model.backends.torch import TorchBackend, fast_tokenizer, load_model, quiet
from harness.model.backends.trial import AGREEMENT, BackendTrial, compare, known, remember, sample_ids
from harness.model.settings import PRECISIONS

logger = logging.getLogger(__name__)


# Cells of a sweep alternate between a few models; more than four would only hold memory.
@lru_cache(maxsize=4)
def load(wanted: BackendRequest) -> LoadedModel:
    """The model in memory, once per process.

    ``wanted.backend`` auto takes the first engine that is installed, agrees with torch and is not slower, and
    says so when there is none though there should be. A backend that is named, or a precision that torch
    lacks, raises ``ModelError`` instead.
    """
    with quiet():
        engines = _engines(wanted)
        reasons = []
        for engine in engines:
            try:
                return _converted(wanted, engine)
            except UnfitError as reason:
                reasons.append(reason)
        if reasons and not _torch_will_do(wanted):
            raise ModelError(
                f"The model {wanted.name!r} can't run on {' or '.join(e.name for e in engines)} "
                f"(model.backend) in {wanted.precision} here: {'; '.join(map(str, reasons))}. Use "
                f"{_remedy(wanted)}.",
                model=wanted.name,
            ) from reasons[-1]
        if reasons:
            level = logging.INFO if all(reason.expected for reason in reasons) else logging.WARNING
            told = [str(reason) for reason in reasons if level == logging.INFO or not reason.expected]
            logger.log(
                level, "The model %r runs on torch, because %s.", wanted.name, "; ".join(dict.fromkeys(told))
            )
        return _torch(wanted)


def agreement(wanted: BackendRequest) -> float | None:
    """The least cosine to torch in float32, from the trial of the engine that runs ``wanted``, or None.

    Loads nothing, so it is told of embeddings that were computed before, too.
    """
    found = (known(wanted, engine) for engine in _engines(wanted) if engine.is_installed())
    return next((verdict.cosine for verdict in found if verdict and verdict.agrees(wanted.precision)), None)


def _engines(wanted: BackendRequest) -> list[Engine]:
    """Those that may be tried, in this order."""
    able = [engine for engine in ENGINES if engine.name in PRECISIONS[wanted.precision]]
    if wanted.backend != "auto":
        return [engine for engine in able if engine.name == wanted.backend]
    return [] if _torch_will_do(wanted) and not _on_cpu(wanted.device) else able


def _torch_will_do(wanted: BackendRequest) -> bool:
    return wanted.backend in {"auto", "torch"} and "torch" in PRECISIONS[wanted.precision]


def _remedy(wanted: BackendRequest) -> str:
    return (
        "model.backend=torch, or auto"
        if "torch" in PRECISIONS[wanted.precision]
        else "model.precision=float32"
    )


def _torch(wanted: BackendRequest) -> LoadedModel:
    model = load_model(wanted.folder, wanted.device, wanted.name)
    if wanted.precision == "float16" and model.device.type == "cpu":
        raise ModelError(
            f"The model {wanted.name!r} can't run in float16 (model.precision) on a CPU. Choose float32 or "
            "bfloat16, or a GPU with model.device.",
            model=wanted.name,
        )
    return LoadedModel(TorchBackend(model, wanted.precision), fast_tokenizer(model, wanted.name))


def _converted(wanted: BackendRequest, engine: Engine) -> LoadedModel:
    if not engine.is_installed():
        packages = " ".join(engine.packages)
        raise UnfitError(f"{engine.title} is not installed (pip install {packages})", expected=True)
    place = converted.folder(wanted, engine)
    usable = converted.sound(place, engine, wanted.cache_dir)
    if place.exists() and not usable:
        logger.warning("The converted model in %s is damaged; %r is converted again.", place, wanted.name)
    verdict = known(wanted, engine) if usable else None
    if verdict is None:
        return _tried(wanted, engine, convert=not usable)
    _judge(wanted, engine, verdict)
    return converted.opened(place, engine, wanted.precision)


def _tried(wanted: BackendRequest, engine: Engine, *, convert: bool) -> LoadedModel:
    """Converts the model if need be and compares it with torch, which is what has to be loaded for both."""
    model = load_model(wanted.folder, "cpu", wanted.name)
    tokenizer = fast_tokenizer(model, wanted.name)
    if convert:
        converted.convert(model, tokenizer, engine, wanted)
    found = converted.opened(converted.folder(wanted, engine), engine, wanted.precision)
    verdict = compare(model, wanted.precision, found.backend, sample_ids(tokenizer, wanted.longest))
    remember(wanted, engine, verdict)
    _judge(wanted, engine, verdict)
    return found


def _judge(wanted: BackendRequest, engine: Engine, verdict: BackendTrial) -> None:
    if not verdict.agrees(wanted.precision):
        raise UnfitError(
            f"{engine.title}'s vectors differ from torch's (least cosine {verdict.cosine:.6f} on a sample; "
            f"{AGREEMENT[wanted.precision]} is asked of {wanted.precision})"
        )
    if wanted.backend == "auto" and _torch_will_do(wanted) and verdict.seconds > verdict.torch_seconds:
        raise UnfitError(
            f"{engine.title} is slower here ({verdict.seconds:.2f} s for a sample, torch "
            f"{verdict.torch_seconds:.2f} s)",
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
