"""Could the question have been answered, is all of its evidence there."""

from __future__ import annotations

import numpy as np

from harness.metrics.judged import Judged
from harness.records import FloatArray


class Complete:
    """``complete_at_k``, ``complete_at_B_tokens``: 1 if every evidence of the question is covered, else 0.

    Covered: to at least ``metrics.complete_at``. 0 for a question without evidence.
    """

    chunk_independent = True

    def score(self, judged: Judged) -> dict[str, FloatArray]:
        """float64 (questions,) for every k and budget."""
        at_k = {f"complete_at_{k}": self._all(judged, judged.covered_at(k)) for k in judged.ks}
        return at_k | {
            f"complete_at_{b}_tokens": self._all(judged, judged.covered_within(b)) for b in judged.budgets
        }

    def _all(self, judged: Judged, covered: FloatArray) -> FloatArray:
        owner = judged.labels.unit_question
        units = np.bincount(owner, minlength=judged.questions)
        complete = np.bincount(owner[judged.is_complete(covered)], minlength=judged.questions)
        return np.where((complete == units) & (units > 0), 1.0, 0.0)
