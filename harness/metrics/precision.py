"""The share of relevant rows."""

from __future__ import annotations

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class Precision:
    """``precision_at_k``: relevant rows in the first k / k, in [0, 1], also when fewer came back."""

    chunk_independent = False

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        return {f"precision_at_{k}": inputs.relevant_rows_at(k) / float(k) for k in inputs.ks}
