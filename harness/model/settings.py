"""The settings that embedding models share, and which values go together."""

from __future__ import annotations

from collections.abc import Mapping

from harness.errors import SettingError, whole
from harness.model.backends.engines import ENGINES, Engine

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


def check_axes(
    truncate_dim: int | None, long_chunks: str, prompts: str, max_tokens: int | None = None
) -> None:
    """Raises ``SettingError`` for a value that no model allows."""
    if max_tokens is not None:
        whole(max_tokens, "model.max_tokens", 8, of="tokens")
    if truncate_dim is not None:
        whole(truncate_dim, "model.truncate_dim", 1, of="numbers of a vector")
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
    if batch_size is not None:
        whole(batch_size, "model.batch_size", 1, of="texts")
    _check_choice("model.backend", backend, BACKENDS)
    _check_choice("model.precision", precision, tuple(PRECISIONS))
    if backend != "auto":
        _check_choice(
            "model.precision",
            precision,
            tuple(name for name, backends in PRECISIONS.items() if backend in backends),
            f"with model.backend={backend} ",
        )
    for engine in ENGINES:
        if engine.name == backend:
            _check_engine(engine, "model.backend", backend, device)
        elif PRECISIONS[precision] == (engine.name,):
            _check_engine(engine, "model.precision", precision, device)
    if precision == "float16" and device == "cpu":
        raise SettingError(
            "model.precision is float16 and model.device is cpu; float16 runs on a GPU. On a CPU the "
            "precision must be float32 or bfloat16.",
            key="model.precision",
        )


def _check_choice(key: str, given: str, allowed: tuple[str, ...], where: str = "") -> None:
    if given not in allowed:
        raise SettingError(f"{key} is {given!r}; {where}it must be {_listed(allowed)}.", key=key)


def _check_engine(engine: Engine, key: str, given: str, device: str) -> None:
    """``key``: the setting that asks for the engine, with its value ``given``."""
    remedy = "model.backend=auto" if key == "model.backend" else "model.precision=float32"
    if device not in {"auto", "cpu"}:
        raise SettingError(
            f"{key} is {given}, which runs on the CPU here, and model.device is {device!r}; it must be auto "
            f"or cpu. For a GPU use {remedy}.",
            key=key,
        )
    if not engine.is_installed():
        raise SettingError(
            f"{key} is {given}, which needs {engine.title}, and it is not installed. Install it (pip "
            f"install {' '.join(engine.packages)}, or this project with its extra `{engine.extra}`), or use "
            f"{remedy}.",
            key=key,
        )


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
