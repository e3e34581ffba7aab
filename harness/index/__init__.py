"""Vectors into rankings.

Promises: higher inner product first, equal scores by the smaller row; equal vectors score equally; memory
does not grow with questions x rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from harness.records import Float32Array, IntArray, Ranking

# Rounding to 11 bits moves each number by 2^-11 of itself at most, so the score of unit vectors by 2^-11
# (Cauchy and Schwarz); two scores can come nearer by twice that.
HALF_GAP = 2.0**-10


class Index(Protocol):
    """A searchable set of vectors. One vector may stand for several rows (equal texts)."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing is missed; if not, rankings are compared with those of exact search."""

    def build(self, vectors: Float32Array, vector_of_row: IntArray) -> None:
        """Takes ``vectors``, float32 (unique, dim); row ``i`` has the vector ``vector_of_row[i]``."""

    def search(self, queries: Float32Array, depth: int, groups: IntArray | None = None) -> Ranking:
        """The ``depth`` best rows of each query, float32 (queries, dim).

        With ``groups`` int64 (groups + 1,), ascending offsets as in ``Chunks.doc_rows``, the best *groups*: a
        group scores as its best row, decided before the cut at ``depth``; an empty group never comes back.
        """

    def first_ranks(
        self, queries: Float32Array, relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank (from 1) of the best of ``relevant[i]`` in the whole ranking of query ``i``; 0 if missing.

        int64 (queries,). ``relevant`` holds rows, or groups when ``groups`` is given.
        """

    def megabytes(self) -> float:
        """Size of what a search reads."""


def unsettled(ranking: Ranking, k: int, gap: float = HALF_GAP) -> npt.NDArray[np.bool_]:
    """Whether exact vectors may give another first ``k``, bool (questions,): the next score within ``gap``.

    A ranking must be deeper than ``k`` to tell; where no row follows, nothing is unsettled.
    """
    if k >= ranking.depth:
        return np.zeros(len(ranking.rows), bool)
    last, following = ranking.scores[:, k - 1], ranking.scores[:, k]
    found = following > -np.inf
    return found & (np.where(found, last - np.where(found, following, 0), np.inf) <= gap)
