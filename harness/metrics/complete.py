"""Could the question have been answered, is all of its evidence there."""

from __future__ import annotations

import numpy as np

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class Complete:
    """``complete_at_k``, ``complete_at_B_tokens``: 1 if every evidence of the question is covered, else 0.

    Covered: to at least ``metrics.complete_at``. 0 for a question without evidence.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k and budget, and for the k that fits each budget."""
        at_k = {f"complete_at_{k}": self._all(inputs, inputs.covered_at(k)) for k in inputs.fitting_ks}
        return at_k | {
            f"complete_at_{b}_tokens": self._all(inputs, inputs.covered_within(b)) for b in inputs.budgets
        }

    def _all(self, inputs: ScoringInputs, covered: FloatArray) -> FloatArray:
        owner = inputs.labels.group_question
        groups = np.bincount(owner, minlength=inputs.questions)
        complete = np.bincount(owner[inputs.is_complete(covered)], minlength=inputs.questions)
        return np.where((complete == groups) & (groups > 0), 1.0, 0.0)
