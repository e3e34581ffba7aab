"""A second look at the best rows of a ranking.

Promises: a reranker only reorders what the retriever brought; ties keep the retriever's order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from harness.records import Ranking


class Reranker(Protocol):
    """Anything that puts a ranking into a better order."""

    def rerank(self, questions: Sequence[str], ranking: Ranking, text_of: Callable[[int], str]) -> Ranking:
        """``ranking`` reordered; ``text_of(row)`` is a row's text."""
