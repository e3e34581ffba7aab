"""The settings that say how a model runs, and which of them go together."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping

from harness.errors import SettingError

BACKENDS = ("auto", "torch", "openvino", "onnx")
# What each precision can run on. int8 changes rankings (cosine 0.97 to 0.99 to float32), so it is only taken when it is asked for.
PRECISIONS: Mapping[str, tuple[str, ...]] = {
    "float32": ("torch", "openvino", "onnx"),
    "bfloat16": ("torch", "openvino"),
    "float16": ("torch",),
    "int8": ("onnx",),
}
# What runs on the CPU alone: its packages, and the extra that brings them.
_ENGINES: Mapping[str, tuple[tuple[str, ...], str]] = {
    "openvino": (("openvino",), "fast"),
    "onnx": (("onnxruntime", "onnx"), "onnx"),
}
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def check_running(backend: str, precision: str, device: str, batch_size: int | None) -> None:
    """Raises ``SettingError`` for a value that is not allowed, or for values that contradict each other."""
    if batch_size is not None and (
        isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1
    ):
        raise SettingError(
            f"model.batch_size is {batch_size!r}; it must be a whole number of texts, at least 1, or null.",
            key="model.batch_size",
        )
    if not _DEVICE.fullmatch(str(device)):
        raise SettingError(
            f"model.device is {device!r}; it must be auto, cpu, mps, cuda or cuda:N.", key="model.device"
        )
    _check_choice("model.backend", backend, BACKENDS)
    _check_choice("model.precision", precision, tuple(PRECISIONS))
    if backend != "auto":
        _check_choice(
            "model.precision",
            precision,
            tuple(name for name, backends in PRECISIONS.items() if backend in backends),
            f"with model.backend={backend} ",
        )
    needed = backend if backend in _ENGINES else "onnx" if PRECISIONS[precision] == ("onnx",) else None
    if needed is not None:
        _check_engine(needed, "model.backend" if backend == needed else "model.precision", device, precision)
    if precision == "float16" and device == "cpu":
        raise SettingError(
            "model.precision is float16 and model.device is cpu; float16 runs on a GPU. On a CPU the precision must be "
            "float32 or bfloat16.",
            key="model.precision",
        )


def _check_choice(key: str, given: str, allowed: tuple[str, ...], where: str = "") -> None:
    if given not in allowed:
        raise SettingError(f"{key} is {given!r}; {where}it must be {_listed(allowed)}.", key=key)


def _check_engine(engine: str, key: str, device: str, precision: str) -> None:
    """``key``: the setting that asks for the engine."""
    given = engine if key == "model.backend" else precision
    if device not in {"auto", "cpu"}:
        raise SettingError(
            f"{key} is {given}, which runs on the CPU here, and model.device is {device!r}; it must be auto or "
            f"cpu. For a GPU use {'model.backend=torch' if key == 'model.backend' else 'another precision'}.",
            key=key,
        )
    packages, extra = _ENGINES[engine]
    if any(importlib.util.find_spec(package) is None for package in packages):
        remedy = "model.backend=auto" if key == "model.backend" else "model.precision=float32"
        runs_on = "" if key == "model.backend" else f" runs on {engine}, which"
        raise SettingError(
            f"{key} is {given}, which{runs_on} is not installed; it must be installed (pip install {' '.join(packages)}, or this "
            f"project with its extra `{extra}`), or use {remedy}.",
            key=key,
        )


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
