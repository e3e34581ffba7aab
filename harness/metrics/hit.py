"""Was any piece of the evidence touched."""

from __future__ import annotations

import numpy as np

from harness.metrics.judged import Judged
from harness.records import FloatArray


class Hit:
    """``hit_at_k``: 1 if one of the first k rows is relevant, else 0."""

    chunk_independent = False

    def score(self, judged: Judged) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        return {f"hit_at_{k}": (judged.relevant_rows_at(k) > 0).astype(np.float64) for k in judged.ks}
