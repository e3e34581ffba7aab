"""Questions about the same text are not independent: what is resampled are clusters of questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.records import FloatArray, IntArray


def cluster_ids(labels: Sequence[str]) -> IntArray:
    """int64 (questions,): equal numbers for equal labels, counted from 0 in the order of the sorted labels."""
    if len(labels) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.asarray(labels, dtype=str), return_inverse=True)[1].astype(np.int64).reshape(-1)


def effective_clusters(clusters: IntArray) -> float:
    """G* = n² / Σ n_c²: how many clusters of equal size would be worth as much; 0 without questions.

    Kish (1965); the special case of Carter, Schnepel & Steigerwald (2017) without heterogeneity beyond the sizes.
    """
    sizes = np.unique(clusters, return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if len(sizes) else 0.0


def cluster_sums(values: FloatArray, clusters: IntArray) -> tuple[FloatArray, FloatArray]:
    """The sum of every cell over every cluster, float64 (cells, clusters), and the clusters' sizes, float64 (clusters,).

    Clusters come in an order that depends on their content alone (size, then sums), so that neither the order of the questions
    nor the numbers of the clusters change what is resampled. Sums are rounded to 12 digits: addition is not associative.
    """
    found, which = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(which.reshape(-1), minlength=len(found)).astype(np.float64)
    order = np.argsort(which.reshape(-1), kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    sums = np.add.reduceat(values[:, order], starts, axis=1) if len(found) else np.zeros((len(values), 0))
    sums = np.round(sums, 12)
    content = np.lexsort((*sums[::-1], sizes))
    return np.ascontiguousarray(sums[:, content]), sizes[content]
