"""Vectors into rankings.

Promises: higher inner product first, equal scores by the smaller row; equal vectors score equally; memory
does not grow with questions x rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.records import Float32Array, IntArray, Ranking


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
