"""Any sentence-transformers model: from a local folder, installed packages, or the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.files.model_files import ModelFiles, check_name_and_device, file_sha256
from harness.model.backends import BackendRequest
from harness.model.embedder import Embedder, cut_rows, refuse_long
from harness.model.settings import PRECISIONS, check_axes, check_running, output_dim, window_of
from harness.model.setup import ModelSetup, read_setup
from harness.model.sources import check_pinned, locate, locate_here
from harness.records import Encoded

# Backends are compared on texts of up to so many tokens.
_LONGEST_TRIAL = 512


@dataclass(frozen=True, kw_only=True)
class SentenceTransformerModel:
    """A sentence-transformers model.

    ``name``: a repository on the hub (``org/name``) or a local folder with a ``modules.json``. ``revision``:
    commit, tag or branch. ``packages``: installed packages that hold the same model, looked at before the
    hub. ``weights_sha256``: of ``model.safetensors``; other weights are refused. ``query_prompt`` and
    ``document_prompt`` are put before questions and passages; None takes the model's own. ``max_tokens``:
    what is read of a text, special tokens and prompt included; None takes the model's own window.
    ``long_chunks``: a passage beyond the window is read up to it (truncate), read to its end in pieces of the
    window, whose vectors are averaged by their tokens (window), or refused (error); questions
    are truncated or refused. ``truncate_dim``: numbers used of a vector; None: all. ``prompts``: none reads
    texts without any prompt. ``batch_size``: texts at most in a batch; None lets their tokens decide.
    ``device``: auto (cuda, mps, cpu, whichever is there first), cpu, mps, cuda or cuda:N. ``backend``: auto
    (on a CPU openvino, else onnx, where it is installed, agrees with torch and is not slower), torch,
    openvino or onnx; it changes vectors by rounding only. ``precision``: float32, bfloat16, float16 on
    a GPU, or int8 on onnx, which changes rankings: see ``agreement``. ``cache_dir``: where hashes, joined
    packages and converted models are cached. ``licence`` and ``untested`` (never loaded by this project's own
    tests) are said for the reader.
    """

    name: str
    revision: str = "main"
    packages: Sequence[str] = ()
    weights_sha256: str | None = None
    query_prompt: str | None = None
    document_prompt: str | None = None
    max_tokens: int | None = None
    long_chunks: str = "truncate"
    truncate_dim: int | None = None
    prompts: str = "default"
    batch_size: int | None = None
    device: str = "auto"
    backend: str = "auto"
    precision: str = "float32"
    cache_dir: str | Path = "cache"
    licence: str = ""
    untested: bool = False

    def __post_init__(self) -> None:
        check_name_and_device("model", self.name, self.device)
        check_axes(self.truncate_dim, self.long_chunks, self.prompts, self.max_tokens)
        check_running(self.backend, self.precision, self.device, self.batch_size)

    def identity(self) -> Mapping[str, Any]:
        """All that changes a vector, as JSON values; the same on every machine that has the same files.

        Looks for the model, which downloads it when only the hub has it; imports neither torch nor
        sentence-transformers. Raises ``ModelError`` when it can't be found or its weights are others than
        pinned.
        """
        return dict(self._identity)

    def place(self) -> str | None:
        """Where its files are: ``folder``, ``package`` or ``hub`` (its cache), or None; asks no network."""
        found = locate_here(str(self.name), str(self.revision), tuple(self.packages), Path(self.cache_dir))
        return None if found is None else found.source

    def agreement(self) -> float | None:
        """In a precision that torch lacks: the least cosine to torch's float32 vectors on a sample.

        None in other precisions, where agreement is near 1 by promise, and where nothing was embedded yet.
        Loads nothing.
        """
        if "torch" in PRECISIONS[self.precision]:
            return None
        from harness.model.backends.choose import agreement

        return agreement(self._wanted)

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages, each read as ``document_prompt`` and the text."""
        prompt = str(self._identity["document_prompt"])
        encoded = self._encode(texts, prompt, in_pieces=self.long_chunks == "window")
        self.check(encoded, texts)
        return self.cut(encoded)

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions, each read as ``query_prompt`` and the text."""
        encoded = self._encode(texts, str(self._identity["query_prompt"]))
        self.check(encoded, texts)
        return self.cut(encoded)

    def readings(self, texts: Sequence[str]) -> tuple[Sequence[bytes], Encoded]:
        """A key of what is read of each truncated passage, empty for others; and all but the vectors."""
        seen = self._embedder.read(texts, str(self._identity["document_prompt"]))
        keys = [b""] * len(texts) if self.long_chunks == "window" else seen.keys()
        return keys, Encoded(np.zeros((len(texts), self._setup.dim), np.float32), *seen[1:])

    def whole(self) -> SentenceTransformerModel:
        """The model from whose vectors ``cut`` makes this one's; maybe itself."""
        if self.truncate_dim is None and self.long_chunks != "error":
            return self
        long_chunks = "truncate" if self.long_chunks == "error" else self.long_chunks
        return replace(self, truncate_dim=None, long_chunks=long_chunks)

    def cut(self, encoded: Encoded) -> Encoded:
        """Its own vectors from those of ``whole``."""
        return cut_rows(encoded, int(self._identity["dim"]), str(self.name))

    def check(self, encoded: Encoded, texts: Sequence[str]) -> None:
        """Raises ``ModelError`` for texts that it refuses because they are too long."""
        if self.long_chunks == "error":
            refuse_long(encoded, texts, str(self.name), int(self._identity["window"] or 0))

    @cached_property
    def _found(self) -> ModelFiles:
        return locate(str(self.name), str(self.revision), tuple(self.packages), Path(self.cache_dir))

    @cached_property
    def _setup(self) -> ModelSetup:
        return read_setup(self._found.folder, str(self.name))

    @cached_property
    def _identity(self) -> Mapping[str, Any]:
        found, setup = self._found, self._setup
        bare = self.prompts == "none"
        window = window_of(self.max_tokens, setup.window, setup.positions, str(self.name))
        dim = output_dim(self.truncate_dim, setup.dim, str(self.name))
        return {
            "kind": "sentence_transformer",
            "name": found.folder.resolve().name if found.source == "folder" else str(self.name),
            "source": "folder" if found.source == "folder" else "hub",
            "revision": found.revision,
            "weights": self._weights(found, setup),
            "setup": setup.digest,
            "query_prompt": setup.prompt("" if bare else self.query_prompt, "query"),
            "document_prompt": setup.prompt("" if bare else self.document_prompt, "document", "passage"),
            "window": window,
            "precision": self.precision,
            "dim": dim,
            "normalise": True,
            # Named only where they change something: embeddings cached before these settings existed stay
            # valid.
            **({"truncate_dim": dim} if dim < setup.dim else {}),
            **({"long_chunks": self.long_chunks} if window and self.long_chunks != "truncate" else {}),
        }

    def _weights(self, found: ModelFiles, setup: ModelSetup) -> dict[str, str]:
        hashes = {
            path.relative_to(found.folder).as_posix(): file_sha256(path, Path(self.cache_dir))
            for path in setup.weights
        }
        found_sha256 = hashes.get("model.safetensors", f"none (it holds {setup.weights[0].name})")
        check_pinned(found.folder / "model.safetensors", found_sha256, self.weights_sha256, str(self.name))
        return hashes

    @cached_property
    def _wanted(self) -> BackendRequest:
        identity, setup = self._identity, self._setup
        return BackendRequest(
            name=str(self.name),
            folder=str(self._found.folder.resolve()),
            digest=f"{identity['setup']} {sorted(identity['weights'].items())}",
            backend=str(self.backend),
            precision=str(self.precision),
            device=str(self.device),
            longest=min(setup.positions or setup.window or _LONGEST_TRIAL, _LONGEST_TRIAL),
            cache_dir=str(self.cache_dir),
        )

    @cached_property
    def _embedder(self) -> Embedder:
        from harness.model.backends.choose import load

        loaded, window = load(self._wanted), self._identity["window"]
        return Embedder(loaded, window, self._setup.dim, self.batch_size, str(self.name))

    def _encode(self, texts: Sequence[str], prompt: str, *, in_pieces: bool = False) -> Encoded:
        if texts:
            return self._embedder.encode(texts, prompt, in_pieces=in_pieces)
        none = np.zeros(0, dtype=np.int64)
        return Encoded(np.zeros((0, self._setup.dim), np.float32), none, none.copy(), none.copy())
