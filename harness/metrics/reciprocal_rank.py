"""How far down the first relevant row stands."""

from __future__ import annotations

import numpy as np

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class ReciprocalRank:
    """``mrr`` over the whole ranking, ``mrr_at_k`` to rank k: 1 / rank of the first relevant row.

    In [0, 1]; 0 without a relevant row.
    """

    chunk_independent = False

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for the whole ranking and for every k."""
        first = np.where(np.isnan(inputs.first_rank), np.inf, inputs.first_rank)
        at_k = {f"mrr_at_{k}": np.where(first <= k, 1.0 / first, 0.0) for k in inputs.ks}
        return {"mrr": 1.0 / first} | at_k
