"""Which passages questions are written about, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.golden.generation import Passage
from harness.records import Document


class Choice:
    """Passages of ``documents`` in a fixed order that depends on them, ``seed`` and ``weights`` alone.

    Asking for more passages never changes the first ones. ``weights``: traffic by document id, documents left out have the smallest
    one. ``pairs``: share of the passages that have two excerpts, as far as the documents give them.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        seed: int = 0,
        weights: Mapping[str, float] | None = None,
        pairs: float = 0.3,
    ) -> None:
        raise NotImplementedError

    def first(self, n: int) -> list[Passage]:
        """The first ``n`` passages; fewer when the documents have no more."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Passage]:
        """All passages in order, made as they are asked for."""
        raise NotImplementedError
