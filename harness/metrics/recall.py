"""The share of the evidence that was read."""

from __future__ import annotations

import numpy as np

from harness.metrics.operating_point import OVER_BUDGETS
from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class Recall:
    """``recall_at_k``, ``recall_at_B_tokens``: mean over the evidence of the share that was read, in [0, 1].

    ``recall_over_budgets`` is the mean of a question's recall over the budgets; there is none without
    budgets. Characters, white space aside, inside the union of the rows; the best of an evidence's
    alternatives; a whole document is 1 or 0. With one relevant chunk per question and labels that are chunks
    ``recall_at_k`` equals ``hit_at_k``.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k and budget, the k that fits each, and over all budgets."""
        at_k = {f"recall_at_{k}": inputs.mean_over_evidence(inputs.covered_at(k)) for k in inputs.fitting_ks}
        at_budget = {
            f"recall_at_{b}_tokens": inputs.mean_over_evidence(inputs.covered_within(b))
            for b in inputs.budgets
        }
        over = {OVER_BUDGETS: np.mean(list(at_budget.values()), axis=0)} if at_budget else {}
        return at_k | at_budget | over
