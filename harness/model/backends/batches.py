"""Texts into batches by their number of tokens, longest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.records import IntArray

# A text shorter than this share of its batch's longest starts a new batch.
_FILLED = 0.75


def batches(
    ids: Sequence[IntArray], tokens: int, most: int | None = None, *, padded: bool
) -> Iterator[IntArray]:
    """Rows of ``ids``, each once, those without a token never; the first of a batch is its longest.

    A batch holds at most ``tokens`` tokens with its padding (or a single longer text) and at most ``most`` texts; no
    text is filled up by more than a third. Without ``padded`` all texts of a batch have the same length. Longest first: a batch that is too big for the
    memory fails at once, and the cores finish together.
    """
    lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]])
        size = max(tokens // longest, 1)
        rows = order[start : start + (size if most is None else min(size, most))]
        rows = rows[lengths[rows] >= (longest * _FILLED if padded else longest)]
        yield rows
        start += len(rows)
