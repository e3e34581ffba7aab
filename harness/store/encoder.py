"""What a model must be for its embeddings to be kept, and what else it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from harness.records import Encoded


class Encoder(Protocol):
    """What is wrapped: an embedding model as the stage ``model`` promises it."""

    @property
    def name(self) -> str:
        """What was asked for: a name on the hub, a folder, or a name of its own."""

    def identity(self) -> Mapping[str, Any]:
        """All that changes a vector, as JSON values."""

    def place(self) -> str | None:
        """Where on this machine its files are, or None."""

    def agreement(self) -> float | None:
        """Least cosine to its exact vectors, where it computes roughly; else None."""

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages."""

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions."""


@runtime_checkable
class Derived(Protocol):
    """A model whose vectors are made of another one's at no cost: those of the other one are kept."""

    def whole(self) -> Encoder:
        """The other one, or itself."""

    def cut(self, encoded: Encoded) -> Encoded:
        """Its own vectors from those of ``whole``."""

    def check(self, encoded: Encoded, texts: Sequence[str]) -> None:
        """Raises ``ModelError`` for passages that it refuses, by what ``whole`` saw of them."""


@runtime_checkable
class Windowed(Protocol):
    """A model that reads a long passage up to its window only: those that agree so far have one vector."""

    def readings(self, texts: Sequence[str]) -> tuple[Sequence[bytes], Encoded]:
        """A key of what is read of each passage, empty where that is all of it; and what is seen, without vectors."""
