"""Embedding with torch: the reference, on every device and for every sentence-transformers model."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from harness.errors import ModelError
from harness.model.backends import batches, cores, first_line
from harness.records import Float32Array, IntArray

# Tokens of a batch with its padding. On a CPU more brings nothing; the other figure was chosen for a GPU and
# never tried.
CPU_TOKENS = 8_192
GPU_TOKENS = 65_536


class TorchBackend:
    """A ``SentenceTransformer`` that is given token ids.

    ``model`` is in float32 and stays so outside its transformer, which is turned to ``precision`` in place:
    pooling and what follows it are always computed in float32.
    """

    name = "torch"

    def __init__(self, model: Any, precision: str) -> None:
        import torch

        if torch.get_num_threads() > cores():
            torch.set_num_threads(cores())
        self._model = model.eval()
        self._model[0].to(getattr(torch, precision))
        tokenizer = model[0].tokenizer
        self._padding = int(tokenizer.pad_token_id or 0)
        self._typed = "token_type_ids" in tokenizer.model_input_names
        self._tokens = CPU_TOKENS if model.device.type == "cpu" else GPU_TOKENS

    def encode(
        self, ids: Sequence[IntArray], most: int | None = None, prompt_tokens: int = 0
    ) -> Float32Array:
        """float32 (texts, dim), as the stage promises it."""
        import torch

        # Results stay on the device until the end, so that a GPU is never waited for between batches.
        done: list[tuple[IntArray, Any]] = []
        with torch.inference_mode():
            for rows in batches(ids, self._tokens, most, padded=True):
                features = self._features([ids[row] for row in rows], prompt_tokens)
                done.append((rows, self._forward(features)))
        width = int(done[0][1].shape[1]) if done else int(self._model.get_embedding_dimension())
        vectors = np.zeros((len(ids), width), dtype=np.float32)
        for rows, found in done:
            vectors[rows] = found.cpu().numpy()
        return vectors

    def _features(self, ids: list[IntArray], prompt_tokens: int) -> dict[str, Any]:
        import torch

        padded = np.full((len(ids), len(ids[0])), self._padding, dtype=np.int64)
        mask = np.zeros_like(padded)
        for row, text in enumerate(ids):
            padded[row, : len(text)] = text
            mask[row, : len(text)] = 1
        arrays = {"input_ids": padded, "attention_mask": mask}
        if self._typed:
            arrays["token_type_ids"] = np.zeros_like(padded)
        features: dict[str, Any] = {
            key: torch.from_numpy(array).to(self._model.device) for key, array in arrays.items()
        }
        return {**features, "prompt_length": prompt_tokens} if prompt_tokens else features

    def _forward(self, features: dict[str, Any]) -> Any:
        first, *others = self._model
        features = first(features)
        features["token_embeddings"] = features["token_embeddings"].float()
        for module in others:
            features = module(features)
        return features["sentence_embedding"]


@contextmanager
def quiet() -> Iterator[None]:
    """Hides the libraries' warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def load_model(folder: str, device: str, name: str) -> Any:
    """The ``SentenceTransformer`` in the folder, in float32; code from the folder never runs."""
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
                f"The model {name!r} in {folder} could not be loaded on {target}: {type(error).__name__}: "
                f"{first_line(error)}. Delete the folder and get it again, or choose another model.device= "
                "when the device is the trouble.",
                model=name,
            ) from error


def fast_tokenizer(model: Any, name: str) -> Any:
    """A copy of the model's ``tokenizers.Tokenizer``. Raises ``ModelError`` if it has none."""
    from tokenizers import Tokenizer

    own = getattr(model[0], "tokenizer", None)
    backend = getattr(own, "backend_tokenizer", None)
    if not isinstance(backend, Tokenizer) or type(model[0]).__name__ != "Transformer":
        raise ModelError(
            f"The model {name!r} can't be used: its first module is {type(model[0]).__name__}, and only "
            "transformers with a fast tokenizer are read here.",
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
    """The device to run on; raises ``ModelError`` for one that this machine lacks."""
    import torch

    usable = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    there = [kind for kind, is_there in usable.items() if is_there]
    if wanted == "auto":
        return there[0]
    if wanted.partition(":")[0] not in there:
        raise ModelError(
            f"model.device is {wanted!r} for the model {name!r}, and this machine does not have it. "
            f"It has: {', '.join(there)}.",
            model=name,
        )
    return wanted


def _silence() -> None:
    from transformers.utils import logging as library_logging

    transformers_logging: Any = library_logging
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
