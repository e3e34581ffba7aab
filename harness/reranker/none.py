"""No second look."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.records import Ranking


class NoReranker:
    """Leaves the ranking as it is."""

    def rerank(self, questions: Sequence[str], ranking: Ranking, text_of: Callable[[int], str]) -> Ranking:  # noqa: ARG002 - the stage's signature
        """``ranking`` itself."""
        return ranking
