"""What reading the ranking costs."""

from __future__ import annotations

import numpy as np

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class ContextTokens:
    """``context_tokens_at_k``: tokens of the first k rows, in the sweep's one tokenizer.

    Paid as in a budget: a row that lies wholly inside earlier rows is free, what rows share is otherwise paid
    again. For document rows the tokens of the documents.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        depth = inputs.tokens.shape[1]
        nothing = np.zeros(inputs.questions)
        return {
            f"context_tokens_at_{k}": inputs.tokens[:, min(k, depth) - 1].astype(np.float64)
            if depth
            else nothing
            for k in inputs.ks
        }
