"""The settings that embedding models share, and which values go together."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping

from harness.errors import SettingError

LONG_CHUNKS = ("truncate", "window", "error")
PROMPTS = ("default", "none")
BACKENDS = ("auto", "torch", "openvino", "onnx")
# What each precision can run on. int8 changes rankings (cosine 0.97 to 0.99 to float32), so it is only taken
# when it is asked for.
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


def check_axes(
    truncate_dim: int | None, long_chunks: str, prompts: str, max_tokens: int | None = None
) -> None:
    """Raises ``SettingError`` for a value that no model allows."""
    if max_tokens is not None and (not isinstance(max_tokens, int) or max_tokens < 8):
        raise SettingError(
            f"model.max_tokens is {max_tokens!r}; it must be a whole number of tokens, at least 8, or null.",
            key="model.max_tokens",
        )
    if truncate_dim is not None and (
        isinstance(truncate_dim, bool) or not isinstance(truncate_dim, int) or truncate_dim < 1
    ):
        raise SettingError(
            f"model.truncate_dim is {truncate_dim!r}; it must be a whole number of at least 1 (how many "
            "numbers of a vector are used), or null for all.",
            key="model.truncate_dim",
        )
    if long_chunks not in LONG_CHUNKS:
        raise SettingError(
            f"model.long_chunks is {long_chunks!r}; it must be truncate (read the beginning), window (read "
            "all, a window at a time) or error.",
            key="model.long_chunks",
        )
    if prompts not in PROMPTS:
        raise SettingError(
            f"model.prompts is {prompts!r}; it must be default (those of the model) or none.",
            key="model.prompts",
        )


def window_of(max_tokens: int | None, own: int | None, positions: int | None, model: str) -> int | None:
    """Tokens that are read at a time, special ones included; None for a model that nothing limits.

    ``own``: the model's own window. Raises ``SettingError`` for more than the model has ``positions`` for.
    """
    if max_tokens is None:
        return own
    if positions is not None and max_tokens > positions:
        raise SettingError(
            f"model.max_tokens is {max_tokens}; the model {model!r} has positions for {positions} tokens. "
            f"Give at most that, or null for its own window of {own}.",
            key="model.max_tokens",
        )
    return max_tokens


def output_dim(truncate_dim: int | None, dim: int, model: str) -> int:
    """The length of vectors after ``truncate_dim``; raises ``SettingError`` if that is above ``dim``."""
    if truncate_dim is not None and truncate_dim > dim:
        raise SettingError(
            f"model.truncate_dim is {truncate_dim}; the vectors of {model!r} have {dim} numbers. Give at "
            "most that, or null for all of them.",
            key="model.truncate_dim",
        )
    return dim if truncate_dim is None else truncate_dim


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
            "model.precision is float16 and model.device is cpu; float16 runs on a GPU. On a CPU the "
            "precision must be float32 or bfloat16.",
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
            f"{key} is {given}, which runs on the CPU here, and model.device is {device!r}; it must be auto "
            "or cpu. For a GPU use "
            f"{'model.backend=torch' if key == 'model.backend' else 'another precision'}.",
            key=key,
        )
    packages, extra = _ENGINES[engine]
    if any(importlib.util.find_spec(package) is None for package in packages):
        remedy = "model.backend=auto" if key == "model.backend" else "model.precision=float32"
        runs_on = "" if key == "model.backend" else f" runs on {engine}, which"
        raise SettingError(
            f"{key} is {given}, which{runs_on} is not installed; it must be installed (pip install "
            f"{' '.join(packages)}, or this project with its extra `{extra}`), or use {remedy}.",
            key=key,
        )


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
