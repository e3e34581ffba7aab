"""Exact search against the plainest search that can be written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.index.exact import ExactIndex


def plain_ranking(scores, groups=None):
    """(score, row) pairs, best first: sorted by -score, then row."""
    if groups is not None:
        scores = [max(scores[a:b]) if a < b else None for a, b in zip(groups, groups[1:], strict=False)]
    pairs = [(-float(s), i) for i, s in enumerate(scores) if s is not None]
    return [i for _, i in sorted(pairs)]


@st.composite
def cases(draw):
    """Small integers as vector components: their products are exact, so ties are frequent and real."""
    n_vectors, n_rows = draw(st.integers(1, 8)), draw(st.integers(1, 20))
    component = st.integers(-2, 2)
    vectors = draw(
        st.lists(st.lists(component, min_size=2, max_size=2), min_size=n_vectors, max_size=n_vectors)
    )
    rows = draw(st.lists(st.integers(0, n_vectors - 1), min_size=n_rows, max_size=n_rows))
    queries = draw(st.lists(st.lists(component, min_size=2, max_size=2), min_size=1, max_size=5))
    cuts = sorted(draw(st.lists(st.integers(0, n_rows), max_size=4)))
    relevant = [draw(st.sets(st.integers(0, n_rows - 1))) for _ in queries]
    return vectors, rows, queries, [0, *cuts, n_rows], relevant, draw(st.integers(1, 25))


@given(cases(), st.booleans(), st.sampled_from([1e-5, 64]))
@settings(max_examples=400, derandomize=True, deadline=None)
def test_agrees_with_sorting_everything(case, grouped, block_mb):
    """Search and first ranks equal a full sort by (score, row), with ties, shared vectors, groups and any block size."""
    vectors, row_vectors, queries, cuts, relevant, depth = case
    groups = np.array(cuts) if grouped else None
    index = ExactIndex(block_mb=block_mb)
    index.build(np.array(vectors, np.float32), np.array(row_vectors))
    ranking = index.search(np.array(queries, np.float32), depth, groups)
    if grouped:
        relevant = [{i for i in r if i < len(cuts) - 1 and cuts[i] < cuts[i + 1]} for r in relevant]
    ranks = index.first_ranks(
        np.array(queries, np.float32), [np.array(sorted(r), int) for r in relevant], groups
    )
    for i, query in enumerate(queries):
        scores = [float(np.dot(query, vectors[v])) for v in row_vectors]
        order = plain_ranking(scores, cuts if grouped else None)

        expected = order[:depth] + [-1] * (depth - len(order))
        assert ranking.rows[i].tolist() == expected[:depth]
        assert int(ranks[i]) == min((order.index(r) + 1 for r in relevant[i]), default=0)


def test_equal_texts_score_equally_to_the_last_bit():
    """A thousand rows that share one vector come back in the order of the rows, whatever the matrix product does."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(7, 384)).astype(np.float32)
    index = ExactIndex()
    index.build(vectors, np.arange(1001) % 7)
    ranking = index.search(vectors[:1], 143)

    assert ranking.rows[0].tolist() == list(range(0, 1001, 7))
    assert len(set(ranking.scores[0].tolist())) == 1


def test_an_impossible_block_is_refused():
    """A block of no size is a setting error that names the key."""
    with pytest.raises(SettingError, match=r"index\.block_mb is 0 MiB; it must be above 0"):
        ExactIndex(block_mb=0)
