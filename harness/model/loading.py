"""Weights into memory, quietly, once per process."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from harness.errors import ModelError
from harness.model.window import Window


class Loaded(NamedTuple):
    """``model`` is a ``sentence_transformers.SentenceTransformer`` in float32; ``window`` counts what it reads."""

    model: Any
    window: Window


@contextmanager
def quiet() -> Iterator[None]:
    """Without the libraries' warnings: what matters is checked and said by ourselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# Cells of a sweep alternate between a few models; more than four would only hold memory.
@lru_cache(maxsize=4)
def load(folder: str, digest: str, device: str, window: int | None, name: str) -> Loaded:  # noqa: ARG001 - the digest is part of the key: other files are another model
    """The model in the folder on the device, in float32, reading ``window`` tokens. Code from the folder never runs."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with quiet():
        from sentence_transformers import SentenceTransformer

        _silence()
        target = _device(device, name)
        try:
            import torch

            model = SentenceTransformer(
                folder,
                device=target,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": torch.float32},
            ).float()
            if window is not None:
                model.max_seq_length = window
            return Loaded(model, Window(_tokenizer(model), window))
        except Exception as error:
            raise ModelError(
                f"The model {name!r} in {folder} could not be loaded on {target}: {type(error).__name__}: {_first_line(error)}. "
                "Delete the folder and get it again, or choose another model.device= when the device is the trouble.",
                model=name,
            ) from error


def _tokenizer(model: Any) -> Any:
    """A copy of the model's own fast tokenizer, so that counting never changes how the model truncates."""
    from tokenizers import Tokenizer

    own = model[0].tokenizer
    if getattr(own, "truncation_side", "right") != "right":
        raise ValueError("it drops the beginning of long texts (truncation_side is not 'right')")
    return Tokenizer.from_str(own.backend_tokenizer.to_str())


def _device(wanted: str, name: str) -> str:
    import torch

    usable = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wanted == "auto":
        return next(kind for kind, there in usable.items() if there)
    if not usable[wanted.split(":", maxsplit=1)[0]]:
        there = ", ".join(kind for kind, is_there in usable.items() if is_there)
        raise ModelError(
            f"The model {name!r} was asked to run on {wanted!r} (model.device), which this machine does not have. It has: {there}.",
            model=name,
        )
    return wanted


def _silence() -> None:
    from transformers.utils import logging as library_logging

    transformers_logging: Any = library_logging
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), "no message")
