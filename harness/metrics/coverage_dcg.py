"""How early the evidence is read."""

from __future__ import annotations

import numpy as np

from harness.metrics.judged import Judged
from harness.metrics.sums import sum_by
from harness.records import FloatArray


class CoverageDcg:
    """``coverage_dcg_at_k``: sum over ranks i to k of (recall after row i - recall before it) / log2(i + 1).

    In [0, 1]; 1 when the first row holds all evidence, for any chunking; copies gain nothing. Chunks only.
    """

    chunk_independent = True

    def score(self, judged: Judged) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        if judged.kind == "document":
            return {}
        unit, rank, growth = judged.coverage.gains()
        discounted = growth / np.log2(rank + 1.0)
        values = {}
        for k in judged.ks:
            top = sum_by(unit, np.where(rank <= k, discounted, 0.0), judged.labels.units)
            values[f"coverage_dcg_at_{k}"] = judged.mean_over_evidence(top)
        return values
