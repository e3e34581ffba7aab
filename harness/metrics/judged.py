"""The share of rows of which anything is known."""

from __future__ import annotations

import numpy as np

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray, IntArray


class Judged:
    """``judged_at_k``, ``judged_at_B_tokens``: labelled or judged not relevant, of the rows that came back.

    In [0, 1]; 1 where nothing came back. The row that a budget cuts counts. A row counts as known by the rule
    by which it would be relevant: it shares enough of the shorter with a place that was judged.
    """

    chunk_independent = False

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k and budget."""
        at_k = {f"judged_at_{k}": _share(inputs.known, np.full(inputs.questions, k)) for k in inputs.ks}
        return at_k | {
            f"judged_at_{b}_tokens": _share(inputs.known, reach.whole + (reach.cut >= 0))
            for b, reach in inputs.reach_of.items()
        }


def _share(known: FloatArray, rows: IntArray) -> FloatArray:
    there = (np.arange(known.shape[1]) < rows[:, None]) & ~np.isnan(known)
    total = np.count_nonzero(there, axis=1)
    share = np.where(there, known, 0.0).sum(axis=1) / np.maximum(total, 1)
    return np.where(total > 0, share, 1.0)
