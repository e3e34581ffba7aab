"""Weights into memory with sentence-transformers, quietly."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.errors import ModelError


@contextmanager
def quiet() -> Iterator[None]:
    """Without the libraries' warnings: what matters is checked and said by ourselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def load_model(folder: str, device: str, name: str) -> Any:
    """The ``SentenceTransformer`` in the folder on the device, in float32. Code from the folder never runs."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with quiet():
        from sentence_transformers import SentenceTransformer

        _silence()
        target = _device(device, name)
        try:
            import torch

            return SentenceTransformer(
                folder,
                device=target,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": torch.float32},
            ).float()
        except Exception as error:
            raise ModelError(
                f"The model {name!r} in {folder} could not be loaded on {target}: {type(error).__name__}: {_first_line(error)}. "
                "Delete the folder and get it again, or choose another model.device= when the device is the trouble.",
                model=name,
            ) from error


def fast_tokenizer(model: Any, name: str) -> Any:
    """A copy of the model's own ``tokenizers.Tokenizer``. Raises ``ModelError`` for a model that is read in another way."""
    from tokenizers import Tokenizer

    own = getattr(model[0], "tokenizer", None)
    backend = getattr(own, "backend_tokenizer", None)
    if not isinstance(backend, Tokenizer) or type(model[0]).__name__ != "Transformer":
        raise ModelError(
            f"The model {name!r} can't be used: its first module is {type(model[0]).__name__}, and only transformers with a "
            "fast tokenizer are read here.",
            model=name,
        )
    if getattr(own, "truncation_side", "right") != "right":
        raise ModelError(
            f"The model {name!r} can't be used: it drops the beginning of long texts (truncation_side in its "
            "tokenizer_config.json is not 'right').",
            model=name,
        )
    return Tokenizer.from_str(backend.to_str())


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
