"""The published chunking report's precision."""

from __future__ import annotations

import numpy as np

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class CharPrecision:
    """``char_precision_at_k``: labelled characters in the first k rows / characters of these rows, in [0, 1].

    Above the line each character counts once, and of an evidence and its alternatives only the one that was
    read best; below it characters count as often as they were retrieved. 0 when nothing came back. Chunks
    only. Source: Smith and Troynikov 2024.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        found = inputs.characters
        if found is None:
            return {}
        return {
            f"char_precision_at_{k}": found.found[k] / np.maximum(found.retrieved_at(k), 1) for k in inputs.ks
        }
