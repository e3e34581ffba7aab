"""Exact search against the plainest search that can be written."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.index.best import Best
from harness.index.exact import ExactIndex


def plain_ranking(scores, groups=None):
    """(score, row) pairs, best first: sorted by -score, then row."""
    if groups is not None:
        scores = [max(scores[a:b]) if a < b else None for a, b in itertools.pairwise(groups)]
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


def equal_to_sorting(vectors, vector_of_row, queries, depth, groups, relevant, **made):
    """Search and ranks of an index against a full sort of its own scores."""
    index = ExactIndex(**made)
    index.build(vectors, vector_of_row)
    ranking = index.search(queries, depth, groups)
    ranks = index.first_ranks(queries, relevant, groups)
    scores = (queries @ vectors.astype(np.float32).T)[:, vector_of_row]
    for i, row in enumerate(scores):
        order = plain_ranking(row, None if groups is None else groups.tolist())
        assert ranking.rows[i].tolist() == (order[:depth] + [-1] * depth)[:depth]
        assert int(ranks[i]) == min((order.index(r) + 1 for r in relevant[i].tolist()), default=0)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-5, 1e-3, 1e-2, 32]),
    st.sampled_from(["rows", "groups"]),
    st.sampled_from([np.float16, np.float32]),
)
@settings(max_examples=60, derandomize=True, deadline=None)
def test_many_blocks_agree_with_sorting_everything(seed, block_mb, kind, dtype):
    """Thousands of rows in blocks of any size, many equal scores, shared and unused vectors, and the worst order there is."""
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (int(rng.integers(1, 1500)), 3)).astype(dtype)
    if rng.random() < 0.3:  # every row better than all before it
        vectors = vectors[np.argsort(vectors @ np.ones(3))]
    rows = len(vectors) if rng.random() < 0.5 else int(rng.integers(1, 2000))
    vector_of_row = np.arange(rows) if rows == len(vectors) else rng.integers(0, len(vectors), rows)
    groups = None
    if kind == "groups":
        groups = np.sort(np.concatenate([[0, rows], rng.integers(0, rows + 1, int(rng.integers(0, rows)))]))
    items = np.arange(rows) if groups is None else np.flatnonzero(np.diff(groups))
    relevant = [rng.choice(items, int(rng.integers(0, 4))) for _ in range(3)]
    queries = rng.integers(-1, 2, (3, 3)).astype(np.float32)
    depth = int(rng.choice([1, 2, 70, rows + 1]))
    equal_to_sorting(vectors, vector_of_row, queries, depth, groups, relevant, block_mb=block_mb)


def test_more_queries_than_one_block_holds():
    """Two thousand queries, searched in several parts, each get their own rows."""
    vectors = np.eye(50, dtype=np.float32)
    index = ExactIndex()
    index.build(vectors, np.arange(50))
    queries = vectors[np.arange(2100) % 50]

    assert index.search(queries, 1).rows[:, 0].tolist() == [i % 50 for i in range(2100)]
    assert index.first_ranks(queries, [np.array([i % 50]) for i in range(2100)]).tolist() == [1] * 2100


def test_a_block_that_is_off_by_a_bit_is_counted_again(monkeypatch):
    """Ranks are right even where a product of another shape gives other last bits for the same pair."""
    rng = np.random.default_rng(1)
    vectors, queries = (
        rng.normal(size=(300, 8)).astype(np.float32),
        rng.normal(size=(2, 8)).astype(np.float32),
    )
    index = ExactIndex()
    index.build(vectors, np.arange(300))
    real = index._scores_of
    monkeypatch.setattr(index, "_scores_of", lambda *given: np.nextafter(real(*given), np.float32(-9)))
    order = np.argsort(-(queries @ vectors.T), axis=1, kind="stable")

    assert index.first_ranks(queries, [order[0, 40:42], order[1, 7:8]]).tolist() == [41, 8]


class Counted(np.ndarray):
    """An array that counts the rows that are read from it."""

    read = 0

    def __getitem__(self, key):
        taken = np.asarray(self).view(np.ndarray)[key]
        if isinstance(key, slice):
            Counted.read += len(taken)
        return taken


@pytest.mark.parametrize("depth", [1, 10, 1000])
def test_each_vector_is_read_once_and_few_scores_are_looked_at(depth, monkeypatch):
    """Whatever the depth: one product a pair of query and vector, and all but the best few scores are only compared."""
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(40_000, 4)).astype(np.float32)
    index = ExactIndex(block_mb=1)
    index.build(vectors.view(Counted), np.arange(len(vectors)))
    Counted.read, looked = 0, []
    real = Best.ranking
    monkeypatch.setattr(Best, "ranking", lambda best: looked.append(best.looked_at) or real(best))
    index.search(vectors[:20], depth)

    assert Counted.read == len(vectors)
    # The k-th best of n is passed by k / n of what follows: k (1 + ln(40,000 / k)) in all, and a block or two more.
    assert sum(looked) < 20 * (2.5 * depth * (1 + np.log(40_000 / depth)) + 200)


def test_memory_grows_neither_with_the_rows_nor_with_the_depth():
    """Above the vectors a search takes a small multiple of its block: here under 24 MiB for scores of 400 MB."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(200_000, 4)).astype(np.float32)
    index = ExactIndex(block_mb=1)
    index.build(vectors, np.arange(len(vectors)))
    for depth in (1, 100):
        tracemalloc.start()
        index.search(np.tile(vectors[:50], (10, 1)), depth)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 24 * 2**20


def test_vectors_on_disk_and_of_half_precision(tmp_path):
    """A mapped float16 file gives what its numbers give as float32 in memory."""
    rng = np.random.default_rng(4)
    half = rng.normal(size=(3000, 16)).astype(np.float16)
    half.tofile(tmp_path / "vectors")
    mapped = np.memmap(tmp_path / "vectors", np.float16, "r", shape=half.shape)
    queries = rng.normal(size=(5, 16)).astype(np.float32)
    found = []
    for vectors in (mapped, half.astype(np.float32)):
        index = ExactIndex(block_mb=0.1)
        index.build(vectors, np.arange(3000))
        found.append(index.search(queries, 50))

    assert np.array_equal(found[0].rows, found[1].rows)
    assert np.array_equal(found[0].scores, found[1].scores)


def test_an_impossible_block_is_refused():
    """A block of no size is a setting error that names the key."""
    with pytest.raises(SettingError, match=r"index\.block_mb is 0 MiB; it must be above 0"):
        ExactIndex(block_mb=0)
