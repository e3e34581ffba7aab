"""A random ranking: the baseline that shows whether a corpus is too small, or k too large, to tell retrievers apart."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from harness.errors import SettingError
from harness.records import Chunks, Float32Array, IntArray, Ranking
from harness.retriever import Encoder, VectorIndex
from harness.retriever.scored import first_ranks, of_groups, ranking


class RandomRetriever:
    """Random baseline: every chunk gets a score between 0 and 1. The same ``seed`` and question give the same scores.

    Whoever is not clearly better than this finds nothing; where this finds much, the corpus can't tell good from bad.
    Raises ``SettingError`` for a seed that is not a whole number of at least 0.
    """

    uses_model = False
    uses_index = False
    ignores = ("context",)

    def __init__(self, seed: int = 0) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise SettingError(
                f"retriever.seed is {seed}; it must be a whole number of at least 0.", key="retriever.seed"
            )
        self._seed = seed

    def build(self, chunks: Chunks, model: Encoder, index: VectorIndex) -> None:  # noqa: ARG002 - neither is needed
        """Counts the chunks."""
        self._rows = len(chunks)

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` luckiest chunk rows of each question, or groups by their luckiest row."""
        scored = (self._scores(question, groups) for question in questions)
        return ranking(scored, len(questions), depth)

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row over all rows; 0 without one."""
        scored = (self._scores(question, groups) for question in questions)
        return first_ranks(scored, relevant)

    def encoded(self) -> None:
        """None: nobody read the chunks."""

    def measurements(self) -> Mapping[str, float]:
        """``index_seconds`` and ``index_mb``, both 0."""
        return {"index_seconds": 0.0, "index_mb": 0.0}

    def _scores(self, question: str, groups: IntArray | None) -> Float32Array:
        """A number above 0, at most 1, for every row or group."""
        digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).digest()
        lots = np.random.default_rng([self._seed, int.from_bytes(digest[:8], "little")])
        scores = 1 - lots.random(self._rows, np.float32)
        return scores if groups is None else of_groups(scores, groups)
