"""Graded relevance, discounted by rank."""

from __future__ import annotations

import numpy as np

from harness.metrics.intervals import sum_by
from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class Ndcg:
    """``ndcg_at_k``: sum of grade / log2(rank + 1) over the first k rows / that of the best order.

    In [0, 1]; 0 when nothing is relevant. Linear gain, as trec_eval's ``ndcg_cut``; copies of what was read
    gain nothing, in the best order either. Source: Järvelin and Kekäläinen 2002.
    """

    chunk_independent = False

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        question, rank = inputs.relevant.question[inputs.gaining], inputs.relevant.rank[inputs.gaining]
        grade = inputs.relevant.grade[inputs.gaining]
        # By rank, so that sums run in one order whatever the rows are called.
        order = np.lexsort((rank, question))
        found = grade[order] / np.log2(rank[order] + 1.0)
        ideal_order = np.lexsort((-grade, question))
        first = np.searchsorted(question, question)
        ideal_rank = np.arange(len(question)) - first + 1
        best = grade[ideal_order] / np.log2(ideal_rank + 1.0)
        values = {}
        for k in inputs.ks:
            top = np.where(rank[order] <= k, found, 0.0)
            dcg = sum_by(question, top, inputs.questions)
            ideal = sum_by(question, np.where(ideal_rank <= k, best, 0.0), inputs.questions)
            values[f"ndcg_at_{k}"] = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=ideal > 0)
        return values
