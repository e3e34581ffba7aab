from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.records import Ranking
from harness.reranker import of_groups, reordered


def test_a_hand_worked_order():
    """Three of five rows are read; a tie keeps the retriever's order; the unread ones stay, a step of 1 below each."""
    ranking = Ranking(np.array([[7, 4, 9, 1, 2]]), np.array([[0.9, 0.8, 0.7, 0.6, 0.5]], np.float32))
    # 9 scores best (3); 7 and 4 are equal (-1) and stay in their order; 1 and 2 follow at -2 and -3.
    new = reordered(ranking, np.array([[-1, -1, 3]], np.float32))

    assert new.rows.tolist() == [[9, 7, 4, 1, 2]]
    assert new.scores.tolist() == [[3, -1, -1, -2, -3]]
    assert new.scores.dtype == np.float32
    assert ranking.rows.tolist() == [[7, 4, 9, 1, 2]]  # what was given is untouched


def test_missing_rows_stay_behind():
    """Where fewer rows came back than are read, -1 and -inf stay at the end."""
    ranking = Ranking(np.array([[3, 5, -1, -1], [-1] * 4]), np.full((2, 4), -np.inf, np.float32))
    new = reordered(ranking, np.array([[-8, -7, -np.inf], [-np.inf] * 3], np.float32))

    assert new.rows.tolist() == [[5, 3, -1, -1], [-1] * 4]
    assert new.scores.tolist() == [[-7, -8, -np.inf, -np.inf], [-np.inf] * 4]


def test_documents_by_hand():
    """Documents come in the order of their first reranked chunk; one without a chunk among the read stays below."""
    # Rows 0-1 are document 0, rows 2-3 document 1, row 4 document 2, row 5 document 3.
    groups = np.array([0, 2, 4, 5, 6])
    chunks = Ranking(np.array([[4, 3, 2, 0]]), np.array([[5, 2, 1, 0]], np.float32))  # reranked
    documents = Ranking(np.array([[1, 0, 2, 3, -1]]), np.zeros((1, 5), np.float32))  # by the retriever
    new = of_groups(chunks, documents, groups, 5)

    assert new.rows.tolist() == [[2, 1, 0, 3, -1]]
    assert new.scores.tolist() == [[5, 2, 0, -1, -np.inf]]
    assert of_groups(chunks, documents, groups, 2).rows.tolist() == [[2, 1]]


@given(st.lists(st.integers(-3, 3), min_size=0, max_size=8), st.integers(0, 4), st.integers(0, 3))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_only_the_first_rows_move(scores, below, missing):
    """Whatever the scores: a permutation of the read rows, as a stable sort gives it; the others keep place; scores never rise."""
    depth = len(scores) + below
    rows = np.concatenate([np.arange(depth)[::-1], np.full(missing, -1)])[None]
    ranking = Ranking(rows, np.where(rows < 0, -np.inf, 0).astype(np.float32))
    new = reordered(ranking, np.array([scores], np.float32).reshape(1, len(scores)))
    expected = [row for _, row in sorted(zip(scores, rows[0].tolist(), strict=False), key=lambda p: -p[0])]

    assert new.rows[0].tolist() == expected + rows[0, len(scores) :].tolist()
    found = new.scores[0][new.rows[0] >= 0]
    assert (np.diff(found) <= 0).all()
    assert (new.scores[0][new.rows[0] < 0] == -np.inf).all()
