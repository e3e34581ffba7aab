"""The share of relevant rows."""

from __future__ import annotations

from harness.metrics.judged import Judged
from harness.records import FloatArray


class Precision:
    """``precision_at_k``: relevant rows in the first k / k, in [0, 1]; k below the line also when fewer came back."""

    chunk_independent = False

    def score(self, judged: Judged) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        return {f"precision_at_{k}": judged.relevant_rows_at(k) / float(k) for k in judged.ks}
