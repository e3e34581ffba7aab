"""What a measure sees of one cell: rankings next to what the labels say about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from harness.metrics.characters import Characters
from harness.metrics.coverage import Coverage, Reach
from harness.metrics.intervals import sum_by
from harness.metrics.nonblank import NonblankOffsets
from harness.metrics.reading import reach_of_k
from harness.metrics.relevance import EvidenceColumns, Relevant
from harness.records import FloatArray, IntArray, Kind


@dataclass(frozen=True)
class ScoringInputs:
    """The rankings of some questions of one kind, with what the labels say about them.

    - ``ks``: the cut-offs asked for.
    - ``complete_at``: the share from which an evidence counts as covered.
    - ``relevant``: every relevant row. ``gaining``: bool, which of them gain something: copies of what was
      read gain nothing.
    - ``group_rank``: int64 (groups,), rank of the first row that is relevant to the group, else ``UNRANKED``.
    - ``first_rank``: float64 (questions,), nan when no row is relevant or comes back.
    - ``tokens``: int64 (questions, depth), tokens read down to each rank.
    - ``reach_of``: budget in tokens to how far it reaches; empty for documents.
    - ``characters``, ``nonblank``: None for documents.
    - ``known``: float64 (questions, depth), 1 for rows that are labelled or judged not relevant, else 0; nan
      where no row came back.
    """

    kind: Kind
    ks: tuple[int, ...]
    complete_at: float
    labels: EvidenceColumns
    relevant: Relevant
    gaining: npt.NDArray[np.bool_]
    group_rank: IntArray
    first_rank: FloatArray
    coverage: Coverage
    tokens: IntArray
    reach_of: Mapping[int, Reach]
    characters: Characters | None
    nonblank: NonblankOffsets | None
    known: FloatArray

    @property
    def budgets(self) -> tuple[int, ...]:
        """The budgets asked for, in tokens; none for documents."""
        return tuple(self.reach_of)

    @cached_property
    def fitting_ks(self) -> tuple[int, ...]:
        """``ks``, and for each budget the largest k whose rows have at most so many tokens on average.

        At least 1. Ascending, each once.
        """
        means = self.tokens.mean(axis=0) if self.tokens.size else np.zeros(0)
        fitted = {max(1, int(np.count_nonzero(means <= budget))) for budget in self.budgets if len(means)}
        return tuple(sorted({*self.ks, *fitted}))

    def tokens_at(self, reach: Reach) -> FloatArray:
        """float64 (questions,): tokens of the rows that ``reach`` reads in full."""
        before = np.concatenate((np.zeros((self.questions, 1), np.int64), self.tokens), axis=1)
        last = np.minimum(reach.whole, self.tokens.shape[1])
        return before[np.arange(self.questions), last].astype(np.float64)

    def tokens_within(self, budget: int) -> FloatArray:
        """float64 (questions,): tokens that come back within ``budget``."""
        reach = self.reach_of[budget]
        return np.where(reach.cut >= 0, float(budget), self.tokens_at(reach))

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return self.labels.questions

    def reach_at(self, k: int) -> Reach:
        """The first ``k`` rows of every question."""
        return reach_of_k(self.questions, k)

    def covered_at(self, k: int) -> FloatArray:
        """float64 (groups,): the share of each group of evidence inside the first ``k`` rows."""
        return self.coverage.covered(self.reach_at(k))

    def covered_within(self, budget: int) -> FloatArray:
        """float64 (groups,): the share of each group of evidence inside the first ``budget`` tokens."""
        return self.coverage.covered(self.reach_of[budget])

    def is_complete(self, covered: FloatArray) -> npt.NDArray[np.bool_]:
        """For each group, bool (groups,): ``covered`` is enough to count as covered."""
        # The margin keeps 9 of 10 characters from failing 0.9 by a rounding error.
        return covered >= self.complete_at - 1e-9

    def mean_over_evidence(self, values: FloatArray) -> FloatArray:
        """float64 (questions,): the mean over each question's groups; 0 without evidence.

        ``values``: float64 (groups,).
        """
        owner = self.labels.group_question
        total = sum_by(owner, values, self.questions)
        return total / np.maximum(np.bincount(owner, minlength=self.questions), 1)

    def gains(self, k: int) -> FloatArray:
        """float64 (questions, k): the grade of each of the first ``k`` rows, 0 where it is not relevant."""
        gains = np.zeros((self.questions, k), dtype=np.float64)
        top = self.relevant.rank <= k
        gains[self.relevant.question[top], self.relevant.rank[top] - 1] = self.relevant.grade[top]
        return gains

    def relevant_rows_at(self, k: int) -> IntArray:
        """int64 (questions,): how many of the first ``k`` rows are relevant."""
        return np.bincount(self.relevant.question[self.relevant.rank <= k], minlength=self.questions)
