"""Precision at every relevant row, averaged."""

from __future__ import annotations

import numpy as np

from harness.metrics.intervals import sum_by
from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class AveragePrecision:
    """``map_at_k``: sum of the precision at each relevant row in the first k / all relevant rows, in [0, 1].

    As trec_eval's ``map_cut``: rows that can't fit into k count below the line too. Rows with a copy of what
    was read count in the precision only. 0 when nothing is relevant.
    """

    chunk_independent = False

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        question, _, _, rank = inputs.relevant
        order = np.lexsort((rank, question))
        rank, gains = rank[order], inputs.gaining[order]
        position = np.arange(len(question)) - np.searchsorted(question, question) + 1
        precision = position / rank.astype(np.float64)
        relevant = np.maximum(np.bincount(question[gains], minlength=inputs.questions), 1)
        values = {}
        for k in inputs.ks:
            top = np.where(gains & (rank <= k), precision, 0.0)
            values[f"map_at_{k}"] = sum_by(question, top, inputs.questions) / relevant
        return values
