from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.verdict.clusters import cluster_ids, cluster_sums, effective_clusters


def test_effective_clusters_by_hand():
    """Equal clusters count in full, one big one counts little more than once."""
    assert effective_clusters(np.arange(12)) == pytest.approx(12)
    assert effective_clusters(np.repeat(np.arange(6), 5)) == pytest.approx(6)
    # sizes 4, 1, 1: 36 / (16 + 1 + 1) = 2
    assert effective_clusters(np.array([7, 7, 7, 7, 1, 3])) == pytest.approx(2)
    assert effective_clusters(np.zeros(50, dtype=np.int64)) == pytest.approx(1)
    assert effective_clusters(np.zeros(0, dtype=np.int64)) == 0


def test_labels_become_numbers():
    """Equal labels have equal numbers, in the order of the labels and not of the questions."""
    assert cluster_ids(["b.md", "a.md#1", "b.md", "a.md"]).tolist() == [2, 1, 2, 0]
    assert cluster_ids([]).shape == (0,)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40),
    st.randoms(),
)
def test_sums_do_not_depend_on_the_order(questions, random):
    """Neither the order of questions nor the numbers of the clusters change sums or their order; nothing gets lost."""
    clusters = np.array([q[0] for q in questions])
    values = np.array([q[1:] for q in questions]).T
    sums, sizes = cluster_sums(values, clusters)
    order = list(range(len(questions)))
    random.shuffle(order)
    again, sizes_again = cluster_sums(values[:, order], 100 - clusters[order])

    assert sums.sum(axis=1) == pytest.approx(values.sum(axis=1))
    assert sorted(sizes) == sorted(np.unique(clusters, return_counts=True)[1])
    assert sums == pytest.approx(again, abs=1e-9)
    assert (sizes == sizes_again).all()
