"""Sums by group."""

from __future__ import annotations

import numpy as np

from harness.records import FloatArray, IntArray


def sum_by(group: IntArray, values: FloatArray | IntArray, groups: int) -> FloatArray:
    """float64 (groups,): the sum of ``values`` in each group, 0 for an empty one; added up in the order given.

    Whole numbers below 2**53 are added exactly.
    """
    # Without values numpy would give whole numbers.
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64)
