"""Whether anything is left to find once words have been compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.questions.check import Finding, Look
from harness.records import FloatArray

_LEAST_ROOM = 0.1  # with less than ten points left, cells differ by a few questions each


class WordsAlone(NamedTuple):
    """What BM25 alone finds: per question the recall in the first five chunks (or documents), and within 2,000 tokens.

    float64 (questions,); ``in_tokens`` is empty where all questions are about whole documents. ``chunks``: how many there are to choose from.
    """

    question_ids: Sequence[str]
    in_five: FloatArray
    in_tokens: FloatArray
    chunks: int


def words_alone(found: WordsAlone, minimum_detectable_effect: float | None) -> Look:
    """BM25's recall, and an alarm when it leaves less room than ``minimum_detectable_effect``, the difference that so many questions show.

    Above ten times five chunks only: of fewer, anything finds a good part.
    """
    five = float(np.mean(found.in_five))
    fact = f"BM25 finds {five:.3f} of the evidence in 5 rows"
    if len(found.in_tokens):
        fact += f", {float(np.mean(found.in_tokens)):.3f} in 2,000 tokens"
    room, least = 1 - five, max(_LEAST_ROOM, minimum_detectable_effect or 0.0)
    if room >= least or found.chunks < 50:
        return Look("words alone", fact)
    finding = Finding(
        "leak alarm",
        "serious",
        tuple(q for q, value in zip(found.question_ids, found.in_five.tolist(), strict=True) if value >= 0.9),
        f"Words alone find {five:.0%} of the evidence in 5 rows. That leaves {100 * room:.1f} points to better models, and {100 * least:.0f} are "
        "needed to tell two apart: this set can't say whether an embedding model is worth its price.",
        "Add questions in users' own words; those that BM25 finds are named here.",
    )
    return Look("words alone", fact, (finding,))
