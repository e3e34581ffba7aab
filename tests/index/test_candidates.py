"""Indexes that look at a part of the vectors: against sorting what they may look at, and against exact search."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.index.binary import BinaryIndex
from harness.index.candidates import CandidateIndex
from harness.index.exact import ExactIndex
from harness.index.hnsw import HnswIndex
from harness.index.int8 import Int8Index


class Every(CandidateIndex):
    """Finds the ``count`` best vectors by the plainest search."""

    def _prepare(self, vectors):
        self.all = np.asarray(vectors, np.float32)

    def _candidates(self, queries, count):
        scores = queries @ self.all.T
        vectors = np.argsort(-scores, axis=1, kind="stable")[:, :count]
        return vectors, np.take_along_axis(scores, vectors, axis=1)


@st.composite
def cases(draw):
    """Small integers as components, so that ties are frequent and real; vectors with no, one and many rows; groups, some empty."""
    n_vectors, n_rows = draw(st.integers(1, 8)), draw(st.integers(1, 20))
    component = st.integers(-2, 2)
    vectors = draw(
        st.lists(st.lists(component, min_size=2, max_size=2), min_size=n_vectors, max_size=n_vectors)
    )
    rows = draw(st.lists(st.integers(0, n_vectors - 1), min_size=n_rows, max_size=n_rows))
    queries = draw(st.lists(st.lists(component, min_size=2, max_size=2), min_size=1, max_size=5))
    cuts = sorted(draw(st.lists(st.integers(0, n_rows), max_size=4)))
    relevant = [sorted(draw(st.sets(st.integers(0, n_rows - 1)))) for _ in queries]
    return vectors, rows, queries, [0, *cuts, n_rows], relevant, draw(st.integers(1, 25))


@given(cases(), st.booleans(), st.integers(1, 9))
@settings(max_examples=400, derandomize=True, deadline=None)
def test_only_candidates_come_back_in_the_total_order(case, grouped, count):
    """Rows, or groups by their best row, of the candidates alone, by (score, row); ranks over just that ranking; a smaller depth is a cut."""
    vectors, row_vectors, queries, cuts, relevant, depth = case
    groups = np.array(cuts) if grouped else None
    index = Every(count, exact_scores=True)
    index.build(np.array(vectors, np.float32), np.array(row_vectors))
    asked = np.array(queries, np.float32)
    ranking = index.search(asked, depth, groups)
    if grouped:
        relevant = [[i for i in some if i < len(cuts) - 1] for some in relevant]
    ranks = index.first_ranks(asked, [np.array(some, np.int64) for some in relevant], groups)
    for i, query in enumerate(queries):
        score = [sum(a * b for a, b in zip(query, vector, strict=True)) for vector in vectors]
        seen = sorted(range(len(vectors)), key=lambda v: (-score[v], v))[:count]
        pairs = [(-score[v], row) for row, v in enumerate(row_vectors) if v in seen]
        if grouped:
            spans = list(itertools.pairwise(cuts))
            best = [min((s for s, row in pairs if a <= row < b), default=None) for a, b in spans]
            pairs = [(s, group) for group, s in enumerate(best) if s is not None]
        order = [item for _, item in sorted(pairs)]
        assert ranking.rows[i].tolist() == (order[:depth] + [-1] * depth)[:depth]
        assert ranking.scores[i][: len(order)].tolist() == [-s for s, _ in sorted(pairs)][:depth]
        assert int(ranks[i]) == min((order.index(r) + 1 for r in relevant[i] if r in order), default=0)


def unit(rows, dim, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(rows, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def recall(index, vectors, queries, k=10):
    """The share of exact search's first ``k`` that the index finds."""
    exact = ExactIndex()
    for each in (index, exact):
        each.build(vectors, np.arange(len(vectors)))
    ours, theirs = index.search(queries, k).rows, exact.search(queries, k).rows
    return np.mean([len(np.intersect1d(a, b)) / k for a, b in zip(ours, theirs, strict=True)])


@pytest.mark.parametrize("made", [HnswIndex, Int8Index, BinaryIndex])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_with_room_enough_nothing_is_lost(made, dtype):
    """As many candidates as vectors: rows, scores and ranks are those of exact search."""
    vectors, queries = unit(300, 24).astype(dtype), unit(40, 24, seed=1)
    index, exact = made(300), ExactIndex()
    rows = np.random.default_rng(2).integers(0, 300, 500)
    for each in (index, exact):
        each.build(vectors, rows)
    relevant = [np.random.default_rng(i).integers(0, 500, 3) for i in range(40)]

    ours, theirs = index.search(queries, 50), exact.search(queries, 50)
    assert np.mean(ours.rows == theirs.rows) > 0.999
    assert ours.scores == pytest.approx(theirs.scores, abs=1e-6)
    assert np.mean(index.first_ranks(queries, relevant) == exact.first_ranks(queries, relevant)) > 0.95
    groups = np.arange(0, 501, 5)
    assert np.mean(index.search(queries, 20, groups).rows == exact.search(queries, 20, groups).rows) > 0.999


def test_fewer_candidates_find_less():
    """Recall against exact search falls with ef and with candidates, and by bits faster than by bytes."""
    vectors, queries = unit(3000, 32), unit(100, 32, seed=1)

    assert recall(HnswIndex(ef=300), vectors, queries) > 0.98
    assert recall(HnswIndex(ef=10, m=4, ef_build=10), vectors, queries) < 0.7
    assert recall(HnswIndex(ef=4), vectors, queries) <= 0.4  # no more than four ever come back
    assert recall(Int8Index(rescore=False), vectors, queries) > 0.95
    assert recall(BinaryIndex(rescore=False), vectors, queries) < 0.8
    assert recall(BinaryIndex(candidates=10), vectors, queries) < recall(BinaryIndex(), vectors, queries)


def test_the_graph_is_the_same_every_time():
    """Built twice from the same vectors, it gives the same rows, also where it misses some."""
    vectors, queries = unit(2000, 16), unit(50, 16, seed=1)
    found = []
    for _ in range(2):
        index = HnswIndex(ef=10, m=4, ef_build=10)
        index.build(vectors, np.arange(2000))
        found.append(index.search(queries, 10).rows)
    assert np.array_equal(*found)


def test_int8_by_hand():
    """Steps are the largest absolute value of each dimension / 127; a dimension of zeros stays zero."""
    index = Int8Index(rescore=False)
    index.build(np.array([[1.27, 0, 0.1], [-0.635, 0, 0.2]], np.float32), np.arange(2))
    # Steps 0.01, any, 0.2/127; codes 127 and -63.5 (rounds to even: -64); 63.5 (64) and 127.
    ranking = index.search(np.array([[1, 5, 0]], np.float32), 2)
    assert ranking.rows.tolist() == [[0, 1]]
    assert ranking.scores[0] == pytest.approx([1.27, -0.64], abs=1e-6)


def test_binary_by_hand():
    """A score is the query's numbers where the vector is above 0, minus the others; 0 counts as below. Nine dimensions take two bytes."""
    index = BinaryIndex(rescore=False)
    vectors = np.array([[0.5, -1, 0, 0, 0, 0, 0, 0, 2], [-1, 1, 0, 0, 0, 0, 0, 0, -1]], np.float32)
    index.build(vectors, np.arange(2))
    query = np.array([[1, 2, 0, 0, 0, 0, 0, 0, 4]], np.float32)
    ranking = index.search(query, 2)
    assert ranking.rows.tolist() == [[0, 1]]
    assert ranking.scores.tolist() == [[1 - 2 + 4, -1 + 2 - 4]]
    assert index.megabytes() == 4e-6


def test_sizes():
    """Bytes a quarter, bits a thirty-second of the vectors; a graph is larger than its vectors by its links."""
    vectors = unit(1000, 64)
    made = [HnswIndex(m=8), Int8Index(), BinaryIndex()]
    for index in made:
        index.build(vectors, np.arange(1000))
    graph, int8, binary = (index.megabytes() for index in made)
    # 64 KB of codes and 64 steps of 4 bytes; 8 bytes a vector; 2 * 8 links of 4 bytes at the lowest level at least.
    assert int8 == pytest.approx((64_000 + 256) / 1e6)
    assert binary == pytest.approx(8_000 / 1e6)
    assert 0.256 + 0.064 < graph < 0.256 + 0.064 * 1.6


def test_nothing_to_search():
    """No vectors, no rows: nothing comes back and nothing breaks."""
    for index in (HnswIndex(), Int8Index(), BinaryIndex()):
        index.build(np.zeros((0, 8), np.float32), np.zeros(0, np.int64))
        assert index.search(unit(2, 8), 3).rows.tolist() == [[-1] * 3] * 2
        assert index.first_ranks(unit(2, 8), [np.zeros(0, np.int64)] * 2).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("made", "words", "key"),
    [
        (HnswIndex, {"ef": 0}, "ef"),
        (HnswIndex, {"m": 1}, "m"),
        (HnswIndex, {"ef_build": 2.5}, "ef_build"),
        (Int8Index, {"candidates": True}, "candidates"),
        (BinaryIndex, {"rescore": "yes"}, "rescore"),
    ],
)
def test_wrong_settings_are_named(made, words, key):
    """A setting out of range is refused with its key."""
    with pytest.raises(SettingError, match=f"index.{key} is") as said:
        made(**words)
    assert said.value.key == f"index.{key}"


def test_without_faiss_the_extra_is_named(monkeypatch):
    """Whoever chose hnsw without its extra reads what to install."""
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setattr("harness.index.hnsw.find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"pip install 'retrieval-harness\[ann\]'"):
        HnswIndex()
