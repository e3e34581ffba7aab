"""Any sentence-transformers model: from a local folder, installed packages, or the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ModelError, SettingError
from harness.model.digest import file_sha256
from harness.model.loading import Loaded, load, quiet
from harness.model.rows import encodable, unit_rows
from harness.model.setup import Setup, read_setup
from harness.model.sources import Found, locate, locate_here
from harness.records import Encoded

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


@dataclass(frozen=True, kw_only=True)
class SentenceTransformerModel:
    """A sentence-transformers model in float32.

    ``name``: a repository on the hub (``org/name``) or a local folder with a ``modules.json``. ``revision``: commit,
    tag or branch. ``packages``: installed packages that hold the same model, looked at before the hub.
    ``weights_sha256``: of ``model.safetensors``; other weights are refused. ``query_prompt`` and ``document_prompt``
    are put before questions and passages; None takes the model's own. ``max_tokens``: what is read of a text,
    special tokens and prompt included; None takes the model's own window. ``batch_size``: texts. ``device``: auto
    (cuda, mps, cpu, whichever is there first), cpu, mps, cuda or cuda:N. ``cache_dir``: where hashes and joined packages are
    kept. ``licence`` and ``untested`` (never loaded by this project's own tests) are said for the reader.
    """

    name: str
    revision: str = "main"
    packages: Sequence[str] = ()
    weights_sha256: str | None = None
    query_prompt: str | None = None
    document_prompt: str | None = None
    max_tokens: int | None = None
    batch_size: int = 32
    device: str = "auto"
    cache_dir: str | Path = "cache"
    licence: str = ""
    untested: bool = False

    def __post_init__(self) -> None:
        if not self.name or not str(self.name).strip():
            raise SettingError(
                "model.name is empty; it must be a name on the hub (org/name) or a folder.", key="model.name"
            )
        if isinstance(self.batch_size, bool) or not isinstance(self.batch_size, int) or self.batch_size < 1:
            raise SettingError(
                f"model.batch_size is {self.batch_size!r}; it must be a whole number of texts, at least 1.",
                key="model.batch_size",
            )
        if self.max_tokens is not None and (not isinstance(self.max_tokens, int) or self.max_tokens < 8):
            raise SettingError(
                f"model.max_tokens is {self.max_tokens!r}; it must be a whole number of tokens, at least 8, or null.",
                key="model.max_tokens",
            )
        if not _DEVICE.fullmatch(str(self.device)):
            raise SettingError(
                f"model.device is {self.device!r}; it must be auto, cpu, mps, cuda or cuda:N.",
                key="model.device",
            )

    def identity(self) -> Mapping[str, Any]:
        """All that changes a vector, as JSON values; the same on every machine that has the same files.

        Looks for the model, which downloads it when only the hub has it; imports neither torch nor
        sentence-transformers. Raises ``ModelError`` when it can't be found or its weights are others than pinned.
        """
        return dict(self._identity)

    def place(self) -> str | None:
        """Where on this machine its files are: ``folder``, ``package`` or ``hub`` (its cache); None when nowhere."""
        found = locate_here(str(self.name), str(self.revision), tuple(self.packages), Path(self.cache_dir))
        return None if found is None else found.source

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages, each read as ``document_prompt`` and the text."""
        return self._encode(texts, str(self._identity["document_prompt"]))

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions, each read as ``query_prompt`` and the text."""
        return self._encode(texts, str(self._identity["query_prompt"]))

    @cached_property
    def _found(self) -> Found:
        return locate(str(self.name), str(self.revision), tuple(self.packages), Path(self.cache_dir))

    @cached_property
    def _setup(self) -> Setup:
        return read_setup(self._found.folder, str(self.name))

    @cached_property
    def _identity(self) -> Mapping[str, Any]:
        found, setup = self._found, self._setup
        return {
            "kind": "sentence_transformer",
            "name": found.folder.resolve().name if found.source == "folder" else str(self.name),
            "source": "folder" if found.source == "folder" else "hub",
            "revision": found.revision,
            "weights": self._weights(found, setup),
            "setup": setup.digest,
            "query_prompt": _prompt(self.query_prompt, setup.prompts, ("query",)),
            "document_prompt": _prompt(self.document_prompt, setup.prompts, ("document", "passage")),
            "window": self._window(setup),
            "precision": "float32",
            "dim": setup.dim,
            "normalise": True,
        }

    def _weights(self, found: Found, setup: Setup) -> dict[str, str]:
        hashes = {
            path.relative_to(found.folder).as_posix(): file_sha256(path, Path(self.cache_dir))
            for path in setup.weights
        }
        first = setup.weights[0].name
        if self.weights_sha256 is not None and hashes.get("model.safetensors") != self.weights_sha256:
            raise ModelError(
                f"The weights of the model {self.name!r} are not the pinned ones: {found.folder / 'model.safetensors'} has sha256 "
                f"{hashes.get('model.safetensors', f'none (it holds {first})')}, expected {self.weights_sha256} (model.weights_sha256). "
                "Delete the files and get them again, or set model.weights_sha256=null to use what is there.",
                model=str(self.name),
            )
        return hashes

    def _window(self, setup: Setup) -> int | None:
        if self.max_tokens is None:
            return setup.window
        if setup.positions is not None and self.max_tokens > setup.positions:
            raise SettingError(
                f"model.max_tokens is {self.max_tokens}; the model {self.name!r} has positions for {setup.positions} tokens. "
                f"Give at most that, or null for its own window of {setup.window}.",
                key="model.max_tokens",
            )
        return self.max_tokens

    @cached_property
    def _loaded(self) -> Loaded:
        identity = self._identity
        digest = f"{identity['setup']} {sorted(identity['weights'].items())}"
        return load(
            str(self._found.folder.resolve()), digest, str(self.device), identity["window"], str(self.name)
        )

    def _encode(self, texts: Sequence[str], prompt: str) -> Encoded:
        dim = int(self._identity["dim"])
        if not texts:
            none = np.zeros(0, dtype=np.int64)
            return Encoded(np.zeros((0, dim), dtype=np.float32), none, none.copy(), none.copy())
        loaded = self._loaded
        seen = loaded.window.read(encodable(texts), prompt)
        vectors = unit_rows(self._vectors(loaded, seen.texts, prompt), str(self.name))
        if vectors.shape[1] != dim:
            raise ModelError(
                f"The model {self.name!r} gave vectors of {vectors.shape[1]} numbers; its configuration says {dim}.",
                model=str(self.name),
            )
        return Encoded(vectors, seen.tokens, seen.seen_tokens, seen.seen_chars)

    def _vectors(self, loaded: Loaded, texts: list[str], prompt: str) -> Any:
        try:
            with quiet():
                # An empty prompt is given too, or the model would put its own default prompt before the text.
                return loaded.model.encode(
                    texts, prompt=prompt, batch_size=self.batch_size, show_progress_bar=False
                )
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            raise ModelError(
                f"The model {self.name!r} ran out of memory with {self.batch_size} texts at a time. Lower model.batch_size, "
                "model.max_tokens or choose model.device=cpu.",
                model=str(self.name),
            ) from error


def _prompt(given: str | None, own: Mapping[str, str], names: tuple[str, ...]) -> str:
    if given is not None:
        return str(given)
    return next((own[name] for name in names if own.get(name)), "")
