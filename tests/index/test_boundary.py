from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.index import unsettled
from harness.index.exact import ExactIndex
from harness.records import Ranking


def test_a_gap_at_the_cut_decides():
    """Close scores before or after the cut do not matter, nor does a ranking that ends there."""
    scores = np.array([[0.9, 0.8999, 0.5], [0.9, 0.5, 0.4999], [0.9, -np.inf, -np.inf]], np.float32)
    ranking = Ranking(np.zeros((3, 3), np.int64), scores)

    assert unsettled(ranking, 1).tolist() == [True, False, False]
    assert unsettled(ranking, 2).tolist() == [False, True, False]
    assert unsettled(ranking, 3).tolist() == [False, False, False]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=50, derandomize=True, deadline=None)
def test_settled_questions_have_the_same_rows_at_half_precision(seed):
    """Whatever is not named unsettled has the same first k rows from rounded and from exact vectors."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(200, 8)) + 3 * rng.normal(size=8)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    exact, half = ExactIndex(), ExactIndex()
    exact.build(vectors[10:], np.arange(190))
    half.build(vectors[10:].astype(np.float16), np.arange(190))
    first, rounded = exact.search(vectors[:10], 6), half.search(vectors[:10], 6)
    for question in np.flatnonzero(~unsettled(rounded, 5)).tolist():
        assert set(first.rows[question, :5].tolist()) == set(rounded.rows[question, :5].tolist())
