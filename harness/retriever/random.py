"""A random ranking: the baseline for corpora that are too small, or k that are too large."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from harness.errors import whole
from harness.records import Chunks, Float32Array
from harness.retriever import Encoder, VectorIndex
from harness.retriever.scored import ScoredRetriever


class RandomRetriever(ScoredRetriever):
    """Random baseline: every chunk gets a score between 0 and 1.

    The same ``seed`` and question give the same scores.

    Whoever is not clearly better than this finds nothing; where this finds much, the corpus can't tell good
    from bad. Raises ``SettingError`` for a seed that is not a whole number of at least 0.
    """

    ignores = ("context",)

    def __init__(self, seed: int = 0) -> None:
        self._seed = whole(seed, "retriever.seed")

    def build(self, chunks: Chunks, model: Encoder, index: VectorIndex) -> None:  # noqa: ARG002 - neither is needed
        """Counts the chunks."""
        self._rows = len(chunks)

    def measurements(self) -> Mapping[str, float]:
        """``index_seconds`` and ``index_mb``, both 0."""
        return {"index_seconds": 0.0, "index_mb": 0.0}

    def _scores(self, question: str) -> Float32Array:
        """A number above 0, at most 1, for every row."""
        digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).digest()
        lots = np.random.default_rng([self._seed, int.from_bytes(digest[:8], "little")])
        return 1 - lots.random(self._rows, np.float32)
