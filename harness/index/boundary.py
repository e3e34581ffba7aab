"""Whether a cut of a ranking is safe from the rounding of half-precision vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.records import Ranking

# Rounding to 11 bits moves each number by 2^-11 of itself at most, so the score of unit vectors by 2^-11 (Cauchy and Schwarz);
# two scores can come nearer by twice that.
HALF_GAP = 2.0**-10


def unsettled(ranking: Ranking, k: int, gap: float = HALF_GAP) -> npt.NDArray[np.bool_]:
    """For each question, bool (questions,): row ``k`` and the next score within ``gap``, so exact vectors may give other first ``k``.

    A ranking must be deeper than ``k`` to tell; where no row follows, nothing is unsettled.
    """
    if k >= ranking.depth:
        return np.zeros(len(ranking.rows), bool)
    last, following = ranking.scores[:, k - 1], ranking.scores[:, k]
    found = following > -np.inf
    return found & (np.where(found, last - np.where(found, following, 0), np.inf) <= gap)
