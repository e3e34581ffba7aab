"""A cross-encoder: a model that reads question and text together."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ModelError, whole
from harness.files.hub import SETUP_FILES
from harness.files.model_files import (
    ModelFiles,
    ModelKind,
    check_name_and_device,
    file_sha256,
    setup_digest,
    weight_files,
)
from harness.records import Float32Array
from harness.text.encodings import encodable

_KIND = ModelKind("reranker", "config.json", SETUP_FILES, "cross-encoder/ms-marco-MiniLM-L6-v2")


@dataclass(frozen=True, kw_only=True)
class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers, in float32.

    ``name``: a repository on the hub (``org/name``) or a local folder. ``revision``: commit, tag or branch.
    ``depth``: chunks of each ranking that are read. ``max_tokens``: what is read of question and text
    together; None takes the model's own window. ``batch_size``: pairs at a time. ``device``: auto (cuda, mps,
    cpu, whichever is there first), cpu, mps, cuda or cuda:N. ``cache_dir``: where hashes are cached.
    ``licence`` and ``untested`` (never loaded by this project's own tests) are said for the reader. Raises
    ``SettingError`` for a value that is not allowed.
    """

    name: str
    revision: str = "main"
    depth: int = 50
    max_tokens: int | None = None
    batch_size: int = 32
    device: str = "auto"
    cache_dir: str | Path = "cache"
    licence: str = ""
    untested: bool = False

    def __post_init__(self) -> None:
        check_name_and_device("reranker", self.name, self.device)
        whole(self.depth, "reranker.depth", 1, of="chunks")
        whole(self.batch_size, "reranker.batch_size", 1, of="pairs")
        if self.max_tokens is not None:
            whole(self.max_tokens, "reranker.max_tokens", 8, of="tokens")

    def identity(self) -> Mapping[str, Any]:
        """All that changes a score; the same on every machine that has the same files. Imports no torch."""
        return dict(self._identity)

    def scores(self, question: str, texts: Sequence[str]) -> Float32Array:
        """The model's logit for each pair: squashed to 0..1, high ones would be equal."""
        if not texts:
            return np.zeros(0, np.float32)
        pairs = [(encodable(question), encodable(text)) for text in texts]
        try:
            with _quiet():
                given = self._model.predict(pairs, batch_size=self.batch_size, show_progress_bar=False)
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            raise ModelError(
                f"The reranker {self.name!r} ran out of memory. Lower reranker.batch_size (pairs at a time, "
                f"now {self.batch_size}), reranker.max_tokens or choose reranker.device=cpu.",
                model=self.name,
            ) from error
        return np.asarray(given, np.float32).reshape(len(texts))

    def truncated(self, question: str, texts: Sequence[str]) -> int:
        """How many pairs are longer than the model's window."""
        window = self.max_tokens or self._model.max_length
        if not window or not texts:
            return 0
        pairs = [(encodable(question), encodable(text)) for text in texts]
        with _quiet():
            read = self._model.tokenizer(pairs, truncation=False, padding=False)["input_ids"]
        return sum(len(ids) > window for ids in read)

    @cached_property
    def _found(self) -> ModelFiles:
        name, revision = str(self.name), str(self.revision)
        found = _KIND.find(name, revision) or _KIND.fetch(name, revision)
        _refuse_other_kinds(found.folder, name)
        return found

    @cached_property
    def _identity(self) -> Mapping[str, Any]:
        found = self._found
        weights = weight_files(found.folder, [found.folder], "reranker", str(self.name))
        return {
            "kind": "cross_encoder",
            **found.origin(str(self.name)),
            "weights": {path.name: file_sha256(path, Path(self.cache_dir)) for path in weights},
            "setup": setup_digest(found.folder, [found.folder / file for file in SETUP_FILES]),
            "max_tokens": self.max_tokens,
        }

    @cached_property
    def _model(self) -> Any:
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        with _quiet():
            import torch
            from sentence_transformers import CrossEncoder
            from transformers.utils import logging as library_logging

            speaking: Any = library_logging
            speaking.set_verbosity_error()
            speaking.disable_progress_bar()
            try:
                return CrossEncoder(
                    str(self._found.folder),
                    device=None if self.device == "auto" else self.device,
                    max_length=self.max_tokens,
                    activation_fn=torch.nn.Identity(),
                    local_files_only=True,
                    trust_remote_code=False,
                    model_kwargs={"dtype": torch.float32},
                )
            except Exception as error:
                first = next(iter(str(error).strip().splitlines()), "no message")
                raise ModelError(
                    f"The reranker {self.name!r} in {self._found.folder} could not be loaded on "
                    f"{self.device}: {type(error).__name__}: {first}. Delete the folder and get it again, "
                    "or choose another reranker.device= when the device is the trouble.",
                    model=self.name,
                ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Hides the libraries' warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _refuse_other_kinds(folder: Path, name: str) -> None:
    """Raises ``ModelError`` for a model that does not give one score for a pair."""
    try:
        config: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        kinds, labels = [str(kind) for kind in config.get("architectures") or []], config.get("id2label")
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(
            f"The reranker {name!r} can't be used: {folder / 'config.json'} can't be read ({error}).",
            model=name,
        ) from error
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise ModelError(
            f"The model {name!r} is not a cross-encoder: its config.json says "
            f"{', '.join(kinds) or 'nothing'}, and a score for a pair of texts takes a "
            "...ForSequenceClassification. An embedding model belongs to model=.",
            model=name,
        )
    if isinstance(labels, dict) and len(labels) != 1:
        raise ModelError(
            f"The model {name!r} gives {len(labels)} numbers for a pair of texts; a reranker gives one.",
            model=name,
        )
