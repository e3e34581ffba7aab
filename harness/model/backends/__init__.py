"""What multiplies the matrices: token ids into vectors, on torch or on an engine that a model is converted for.

Promises: backends agree with torch in float32 to cosine 0.99999 (0.9999 in half precision; 0.97 in int8, which only
one of them can); a row does not depend on its neighbours in the batch (to cosine 0.99999); which backend ran changes no
result, so it is no part of a model's identity. The precision is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from harness.records import Float32Array, IntArray


class Backend(Protocol):
    """A model in memory."""

    @property
    def name(self) -> str:
        """``torch``, ``openvino`` or ``onnx``."""

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


class Engine(Protocol):
    """What runs converted models: on the CPU, without importing torch."""

    @property
    def name(self) -> str:
        """As ``backend=`` says it."""

    @property
    def title(self) -> str:
        """As a sentence says it."""

    @property
    def packages(self) -> tuple[str, ...]:
        """What must be installed; the names in the package index are those of the modules."""

    @property
    def files(self) -> tuple[str, ...]:
        """What ``convert`` writes."""

    def convert(self, whole: Any, example: Any, precision: str, folder: Path) -> None:
        """Writes the files. ``whole``: a ``torch.nn.Module`` from ids, int64 (texts, tokens), to vectors, float32 (texts, dim).

        ``example``: such ids. Raises ``UnfitError`` when it can't be converted, ``OSError`` or ``RuntimeError`` when not written.
        """

    def opened(self, folder: Path, precision: str) -> Backend:
        """The backend on these files. Raises ``UnfitError`` when this machine can't run them."""


class UnfitError(Exception):
    """An engine can't stand in for torch here; the message is a clause that says why.

    ``expected`` is True for what needs no warning: not installed, or slower.
    """

    def __init__(self, reason: str, *, expected: bool = False) -> None:
        super().__init__(reason)
        self.expected = expected
