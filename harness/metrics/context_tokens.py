"""What reading the ranking costs."""

from __future__ import annotations

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class ContextTokens:
    """``context_tokens_at_k``, ``context_tokens_at_B_tokens``: tokens that come back.

    Counted by the sweep's tokenizer. A row that lies wholly inside earlier rows is free; what rows share is
    otherwise paid again. For document rows the tokens of the documents.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k and budget, and for the k that fits each budget."""
        at_k = {f"context_tokens_at_{k}": inputs.tokens_at(inputs.reach_at(k)) for k in inputs.fitting_ks}
        return at_k | {f"context_tokens_at_{b}_tokens": inputs.tokens_within(b) for b in inputs.budgets}
