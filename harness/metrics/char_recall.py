"""The published chunking report's recall."""

from __future__ import annotations

import numpy as np

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class CharRecall:
    """``char_recall_at_k``: labelled characters in the first k rows / labelled characters, in [0, 1].

    Pooled over the evidence of a question, each character once; of an evidence and its alternatives the one
    that was read best. 0 without labels. Chunks only. Source: Smith and Troynikov 2024.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        if inputs.characters is None:
            return {}
        gold, found = inputs.characters.gold, inputs.characters.found
        return {f"char_recall_at_{k}": found[k] / np.maximum(gold[k], 1) for k in inputs.ks}
