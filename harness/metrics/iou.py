"""The published chunking report's intersection over union."""

from __future__ import annotations

import numpy as np

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class Iou:
    """``iou_at_k``: labelled characters in the first k rows / (their characters + labelled ones not found).

    In [0, 1]. Retrieved characters count as often as they were retrieved, as in the report. Of an evidence
    and its alternatives the one that was read best counts. Chunks only. Source: Smith and Troynikov 2024.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,) for every k."""
        characters = inputs.characters
        if characters is None:
            return {}
        values = {}
        for k in inputs.ks:
            found = characters.found[k]
            either = characters.retrieved_at(k) + characters.gold[k] - found
            values[f"iou_at_{k}"] = found / np.maximum(either, 1)
        return values
