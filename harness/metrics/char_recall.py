"""The published chunking report's recall."""

from __future__ import annotations

import numpy as np

from harness.metrics.judged import Judged
from harness.records import FloatArray


class CharRecall:
    """``char_recall_at_k``: labelled characters in the first k rows / labelled characters, in [0, 1].

    Pooled over the evidence of a question, each character once, alternatives left out. 0 without labels. Chunks only.
    Source: Smith and Troynikov 2024.
    """

    chunk_independent = True

    def score(self, judged: Judged) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        if judged.characters is None:
            return {}
        gold = np.maximum(judged.characters.gold, 1)
        return {f"char_recall_at_{k}": judged.characters.found(k) / gold for k in judged.ks}
