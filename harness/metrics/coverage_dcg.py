"""How early the evidence is read."""

from __future__ import annotations

import numpy as np

from harness.metrics.intervals import sum_by
from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class CoverageDcg:
    """``coverage_dcg_at_k``: sum over ranks i to k of (recall after row i - recall before it) / log2(i + 1).

    In [0, 1]; 1 when the first row holds all evidence, for any chunking; copies gain nothing. Chunks only.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        if inputs.kind == "document":
            return {}
        group, rank, growth = inputs.coverage.gains()
        discounted = growth / np.log2(rank + 1.0)
        values = {}
        for k in inputs.ks:
            top = sum_by(group, np.where(rank <= k, discounted, 0.0), inputs.labels.groups)
            values[f"coverage_dcg_at_{k}"] = inputs.mean_over_evidence(top)
        return values
