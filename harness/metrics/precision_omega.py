"""The best precision a chunking allows."""

from __future__ import annotations

from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import FloatArray


class PrecisionOmega:
    """``precision_omega``: precision in characters if exactly the chunks that touch a label came back.

    A property of the chunks and the labels; no ranking enters. Alternatives are labels too. Labelled
    characters in no chunk count below the line. 0 when no chunk touches a label; nan where not all chunks are
    known. Chunks only. Source: Smith and Troynikov 2024.
    """

    chunk_independent = True

    def score(self, inputs: ScoringInputs) -> dict[str, FloatArray]:
        """float64 (questions,)."""
        return {} if inputs.characters is None else {"precision_omega": inputs.characters.perfect}
