"""A second look at the best rows of a ranking.

A reranker only says how well each text answers a question. What follows from that is done outside, once for all of them: the first ``depth``
chunks of a ranking are put into that order, equal scores keep the retriever's order, and what stands below stays below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from harness.records import Float32Array


class Reranker(Protocol):
    """Anything that tells better answers from worse ones by reading question and text together."""

    @property
    def depth(self) -> int:
        """How many chunks of each ranking are read; 0 leaves every ranking as it is."""

    def identity(self) -> Mapping[str, Any]:
        """All that changes a score, as JSON values. Loads no weights. Raises ``ModelError`` when the model can't be found."""

    def scores(self, question: str, texts: Sequence[str]) -> Float32Array:
        """How well each of ``texts`` answers the question: finite, float32 (texts,), the higher the better."""
