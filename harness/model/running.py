"""The settings that say how a model runs, and which of them go together."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping

from harness.errors import SettingError

BACKENDS = ("auto", "torch", "openvino")
# What each precision can run on. int8 changes rankings (cosine 0.90 to 0.99 to float32), so nothing offers it.
PRECISIONS: Mapping[str, tuple[str, ...]] = {
    "float32": ("torch", "openvino"),
    "bfloat16": ("torch", "openvino"),
    "float16": ("torch",),
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
    if backend == "openvino":
        _check_openvino(precision, device)
    if precision == "float16" and device == "cpu":
        raise SettingError(
            "model.precision is float16 and model.device is cpu; float16 runs on a GPU. On a CPU the precision must be "
            "float32 or bfloat16.",
            key="model.precision",
        )


def _check_choice(key: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise SettingError(f"{key} is {given!r}; it must be {_listed(allowed)}.", key=key)


def _check_openvino(precision: str, device: str) -> None:
    allowed = tuple(name for name, backends in PRECISIONS.items() if "openvino" in backends)
    if precision not in allowed:
        raise SettingError(
            f"model.precision is {precision!r}; with model.backend=openvino it must be {_listed(allowed)}.",
            key="model.precision",
        )
    if device not in {"auto", "cpu"}:
        raise SettingError(
            f"model.backend is openvino, which runs on the CPU here, and model.device is {device!r}; it must be auto or "
            "cpu. For a GPU use model.backend=torch.",
            key="model.backend",
        )
    if importlib.util.find_spec("openvino") is None:
        raise SettingError(
            "model.backend is openvino, which is not installed; it must be installed (pip install openvino, or this "
            "project with its extra `fast`), or use model.backend=auto.",
            key="model.backend",
        )


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
