"""What multiplies the matrices: token ids into vectors, on torch or on OpenVINO.

Promises: backends agree to cosine 0.99999 in float32 (0.9999 in half precision); a row does not depend on its
neighbours in the batch (to cosine 0.99999); which backend ran changes no result, so it is no part of a model's identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from harness.records import Float32Array, IntArray


class Backend(Protocol):
    """A model in memory."""

    @property
    def name(self) -> str:
        """``torch`` or ``openvino``."""

    def encode(
        self, ids: Sequence[IntArray], most: int | None = None, prompt_tokens: int = 0
    ) -> Float32Array:
        """float32 (texts, dim), pooled, row i for ids[i]; zeros for a text without a token.

        ``ids``: int64, special tokens included, no padding, cut to the window. ``most``: texts at a time, None for
        what suits the backend. ``prompt_tokens``: for the few models whose pooling leaves the prompt out.
        """


class Loaded(NamedTuple):
    """A backend with the ``tokenizers.Tokenizer`` that makes its ids."""

    backend: Backend
    tokenizer: Any


class Wanted(NamedTuple):
    """All that decides what is loaded.

    ``digest`` stands for the files in ``folder``; ``longest`` is the number of tokens up to which a backend is tried.
    """

    name: str
    folder: str
    digest: str
    backend: str
    precision: str
    device: str
    longest: int
    cache_dir: str


class UnfitError(Exception):
    """OpenVINO can't stand in for torch here; the message is a clause that says why.

    ``expected`` is True for what needs no warning: not installed, or slower.
    """

    def __init__(self, reason: str, *, expected: bool = False) -> None:
        super().__init__(reason)
        self.expected = expected
