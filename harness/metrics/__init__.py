"""Rankings and labels into scores. The only stage that sees both.

Promises: relevance is interval arithmetic on spans and nothing else, so labels survive any chunking; every
metric agrees with an independent implementation; the same ranking gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from harness.records import Chunks, Encoded, FloatArray, IntArray, Kind, Question, Ranking
from harness.text.tokens import TokenMap

if TYPE_CHECKING:  # they import from this package
    from harness.metrics.match import Matches
    from harness.metrics.scoring_inputs import ScoringInputs


@dataclass(frozen=True)
class Scores:
    """Every metric of every question of one kind.

    ``values``: metric name to float64 (questions,), aligned with ``question_ids``; nan where a metric is
    undefined for a question. ``chunk_independent`` names those that may be compared between any two cells.
    ``cause``: the diagnosis of each question. ``first_rank``: float64 (questions,), rank of the first
    relevant row over the whole ranking, nan when no row is relevant.
    """

    kind: Kind
    question_ids: tuple[str, ...]
    values: Mapping[str, FloatArray]
    chunk_independent: frozenset[str]
    cause: tuple[str, ...]
    first_rank: FloatArray

    def means(self) -> dict[str, float]:
        """The mean of every metric over the questions for which it is defined, in the order of ``values``."""
        return {
            name: float(np.nanmean(column)) if np.isfinite(column).any() else float("nan")
            for name, column in self.values.items()
        }


class Metrics(Protocol):
    """A set of metrics, computed together because they share the work of finding what is relevant."""

    def depth(self, ks: Sequence[int], rows: int) -> int:
        """How deep a ranking must go at least: 100, the largest k, and never more than ``rows``."""

    def is_deep_enough(self, chunks: Chunks, ranking: Ranking) -> bool:
        """True when the ranking fills the largest token budget for every question, or holds all rows."""

    def match(self, kind: Kind, questions: Sequence[Question], chunks: Chunks) -> Matches:
        """The rows of ``chunks.returned``, or the documents, that are relevant to ``questions`` of one kind.

        Needs no ranking, so a retriever can be asked for the rank of a relevant row that lies below the depth
        of its ranking.
        """

    def score(
        self,
        matches: Matches,
        questions: Sequence[Question],
        ranking: Ranking,
        first_rank: IntArray,
        chunks: Chunks,
        tokens: Sequence[TokenMap],
        ks: Sequence[int],
        encoded: Encoded | None,
        primary: str,
    ) -> Scores:
        """Scores of the ``questions`` of ``matches``; row ``i`` of ``ranking`` belongs to question ``i``.

        ``first_rank`` int64 (questions,) is the rank of the first relevant row over the whole index, 0 where
        none comes back. ``chunks`` were searched; what is scored is the returned context
        (``chunks.returned``), whose rows ``ranking`` holds. ``tokens[d]`` maps ``chunks.documents[d]`` (for
        cutting at a budget). ``encoded`` says what the model read of each chunk row (None: everything).
        ``primary`` is the metric at whose k or budget questions are diagnosed.
        """

    def names(self, kind: Kind, ks: Sequence[int]) -> tuple[str, ...]:
        """The names of the metrics that ``score`` will give, in order; found without any data."""


class Measure(Protocol):
    """One metric, or a few that belong together; a class of its own in a file of its own."""

    @property
    def chunk_independent(self) -> bool:
        """True when cells with different chunks may be compared by it."""

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """Metric name to float64 (questions,); empty when it does not apply to this kind of question.

        It must work for no questions at all: so the names are found before anything is paid for.
        """
