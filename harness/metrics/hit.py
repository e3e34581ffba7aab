"""Was any piece of the evidence touched."""

from __future__ import annotations

import numpy as np

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class Hit:
    """``hit_at_k``: 1 if one of the first k rows is relevant, else 0."""

    chunk_independent = False

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        return {f"hit_at_{k}": (inputs.relevant_rows_at(k) > 0).astype(np.float64) for k in inputs.ks}
