"""SQLite's search: against exact search where nothing is lost, and by hand where something is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.index.exact import ExactIndex
from harness.index.sqlite_vec import SqliteVecIndex

# Unit vectors whose products and lengths are exact in float32: (1, 0, 0, 0) and the like, and (0.5, -0.5, 0.5, 0.5) and the like.
EXACT = np.concatenate([np.eye(4), -np.eye(4), list(itertools.product([0.5, -0.5], repeat=4))]).astype(
    np.float32
)


def unit(rows, dim, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(rows, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def both(made, vectors, rows):
    index, exact = made, ExactIndex()
    for each in (index, exact):
        each.build(vectors, rows)
    return index, exact


def recall(made, vectors, queries, k=10):
    """The share of exact search's first ``k`` that the index finds."""
    index, exact = both(made, vectors, np.arange(len(vectors)))
    ours, theirs = index.search(queries, k).rows, exact.search(queries, k).rows
    return np.mean([len(np.intersect1d(a, b)) / k for a, b in zip(ours, theirs, strict=True)])


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from(["float32", "int8"]))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_equal_vectors_are_cut_by_the_smaller_row(seed, rescore, element):
    """However few candidates, and across the parts of 1,024 that SQLite keeps: rows, scores and order are exact search's, in which a hundred vectors are equal."""
    random = np.random.default_rng(seed)
    vectors = EXACT[random.integers(0, 24, int(random.integers(1, 3000)))]
    count = int(random.integers(1, min(len(vectors), 700) + 1))
    index, exact = both(
        SqliteVecIndex(element, candidates=count, rescore=rescore), vectors, np.arange(len(vectors))
    )
    ours, theirs = index.search(EXACT, count), exact.search(EXACT, count)

    assert np.array_equal(ours.rows, theirs.rows)
    assert ours.scores == pytest.approx(theirs.scores, abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=60, derandomize=True, deadline=None)
def test_rows_that_share_vectors_and_groups(seed, grouped):
    """With as many candidates as vectors: rows or groups, and their first ranks, as exact search has them."""
    random = np.random.default_rng(seed)
    vectors = EXACT[random.integers(0, 24, int(random.integers(1, 60)))]
    rows = random.integers(0, len(vectors), int(random.integers(1, 90)))
    groups = np.sort(np.concatenate([[0, len(rows)], random.integers(0, len(rows) + 1, 9)]))
    items = np.flatnonzero(np.diff(groups)) if grouped else np.arange(len(rows))
    relevant = [random.choice(items, int(random.integers(0, 4))) for _ in EXACT]
    index, exact = both(SqliteVecIndex(), vectors, rows)
    given_groups = groups if grouped else None

    assert np.array_equal(
        index.search(EXACT, 70, given_groups).rows, exact.search(EXACT, 70, given_groups).rows
    )
    ours, theirs = (each.first_ranks(EXACT, relevant, given_groups) for each in (index, exact))
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("element", ["float32", "int8", "bit"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_with_room_enough_nothing_is_lost(element, dtype):
    """As many candidates as vectors, of a dimension that is no multiple of 8: rescoring gives the rows and scores of exact search."""
    vectors, queries = unit(300, 21).astype(dtype), unit(40, 21, seed=1)
    index, exact = both(SqliteVecIndex(element, candidates=300), vectors, np.arange(300))
    ours, theirs = index.search(queries, 300), exact.search(queries, 300)

    assert np.mean(ours.rows == theirs.rows) > 0.999
    assert ours.scores == pytest.approx(theirs.scores, abs=1e-6)


def test_smaller_numbers_lose_more():
    """float32 finds all with as few candidates as rows are asked for; int8 nearly all, bits a part; with more candidates, more."""
    vectors, queries = unit(3000, 32), unit(100, 32, seed=1)
    float32, int8, bit = (
        recall(SqliteVecIndex(element, candidates=10), vectors, queries)
        for element in ("float32", "int8", "bit")
    )

    assert float32 == 1
    assert 0.95 < int8 < 1
    assert bit < 0.7
    assert bit < recall(SqliteVecIndex("bit", candidates=100), vectors, queries) < 1
    assert recall(SqliteVecIndex(candidates=3), vectors, queries) == pytest.approx(0.3)


def test_without_rescoring_float32_scores_by_cosine():
    """SQLite's own cosines are the inner products of unit vectors."""
    vectors, queries = unit(500, 24), unit(20, 24, seed=1)
    index, exact = both(SqliteVecIndex(rescore=False), vectors, np.arange(500))
    ours, theirs = index.search(queries, 50), exact.search(queries, 50)

    assert np.mean(ours.rows == theirs.rows) > 0.99
    assert ours.scores == pytest.approx(theirs.scores, abs=1e-5)


def test_int8_by_hand():
    """A vector is kept in steps of its own largest number / 127, and so is a query; the score is the cosine of these."""
    index = SqliteVecIndex("int8", rescore=False)
    index.build(np.array([[1.27, 0.006, 0], [0.1, -0.2, 0.2]], np.float32), np.arange(2))
    # Steps 0.01 and 0.2 / 127: (127, 0.6 -> 1, 0) and (63.5 -> 64, -127, 127). The query (1, 0, 0) is (127, 0, 0).
    ranking = index.search(np.array([[1, 0, 0]], np.float32), 2)
    expected = [127 / np.hypot(127, 1), 64 / np.sqrt(64**2 + 2 * 127**2)]

    assert ranking.rows.tolist() == [[0, 1]]
    assert ranking.scores[0] == pytest.approx(expected, abs=1e-6)


def test_bits_by_hand():
    """The score is the cosine of the signs, 0 counting as below; what fills the last byte agrees always."""
    index = SqliteVecIndex("bit", rescore=False)
    index.build(
        np.array([[1, 1, -1, -1, 0, 0, 0, 0], [1, -1, 1, 1, 1, 1, 1, 0]], np.float32), np.array([1, 0])
    )
    ranking = index.search(np.array([[1, 1, 1, 0, 0, 0, 0, 0]], np.float32), 2)
    # Signs that differ: the third, so 1 - 2 * 1/8; the second and the fourth to seventh, so 1 - 2 * 5/8. Row 1 has the first vector.
    assert ranking.rows.tolist() == [[1, 0]]
    assert ranking.scores.tolist() == [[0.75, -0.25]]


@pytest.mark.parametrize("element", ["float32", "int8", "bit"])
@pytest.mark.parametrize("rescore", [True, False])
def test_a_vector_of_zeros_hides_no_other(element, rescore):
    """Zeros have no cosine: such rows never come back, wherever they stand, such a query finds nothing, and the others are found as ever."""
    vectors = np.concatenate([np.zeros((3, 4)), EXACT, np.zeros((1100, 4)), EXACT]).astype(np.float32)
    places = np.flatnonzero(vectors.any(axis=1))
    index, without = SqliteVecIndex(element, rescore=rescore), SqliteVecIndex(element, rescore=rescore)
    index.build(vectors, np.arange(len(vectors)))
    without.build(vectors[places], np.arange(48))
    queries = np.concatenate([np.zeros((1, 4)), EXACT]).astype(np.float32)
    ranking, expected = index.search(queries, 48), without.search(queries, 48)

    assert ranking.rows[0].tolist() == [-1] * 48
    assert np.array_equal(ranking.rows[1:], places[expected.rows[1:]])
    assert np.array_equal(ranking.scores, expected.scores)


def test_as_many_candidates_as_sqlite_vec_allows():
    """4,096 of 5,000 vectors come back, the best; one more is refused before anything is built."""
    vectors, queries = unit(5000, 8), unit(2, 8, seed=1)
    index, exact = both(SqliteVecIndex(candidates=4096), vectors, np.arange(5000))
    found = index.search(queries, 5000).rows

    assert ((found >= 0).sum(axis=1) == 4096).all()
    assert np.mean(found[:, :4000] == exact.search(queries, 4000).rows) > 0.99
    with pytest.raises(SettingError, match=r"index\.candidates is 4097; .* of vectors, from 1 to 4,096\.$"):
        SqliteVecIndex(candidates=4097)


def test_sizes():
    """Of 10,240 vectors of 384 numbers: 4 bytes, 1 byte, 1 bit each, and a little more for the rows' numbers."""
    sizes = []
    for element in ("float32", "int8", "bit"):
        index = SqliteVecIndex(element)
        index.build(unit(10_240, 384), np.arange(10_240))
        sizes.append(index.megabytes())
    numbers = 10_240 * 384 / 1e6
    assert sizes == pytest.approx([4 * numbers + 0.4, numbers + 0.4, numbers / 8 + 0.4], abs=0.4)


def test_nothing_to_search():
    """No vectors, no rows: nothing comes back and nothing breaks; a second build forgets the first."""
    index = SqliteVecIndex()
    index.build(unit(5, 8), np.arange(5))
    index.build(np.zeros((0, 8), np.float32), np.zeros(0, np.int64))
    assert index.search(unit(2, 8), 3).rows.tolist() == [[-1] * 3] * 2
    assert index.first_ranks(unit(2, 8), [np.zeros(0, np.int64)] * 2).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("words", "key"),
    [({"element": "float16"}, "element"), ({"candidates": 0}, "candidates"), ({"rescore": "yes"}, "rescore")],
)
def test_wrong_settings_are_named(words, key):
    """A setting out of range is refused with its key."""
    with pytest.raises(SettingError, match=rf"index\.{key} is .*; it must be") as said:
        SqliteVecIndex(**words)
    assert said.value.key == f"index.{key}"


@pytest.mark.parametrize("missing", ["apsw", "sqlite_vec"])
def test_without_its_packages_the_extra_is_named(missing, monkeypatch):
    """Whoever chose sqlite_vec without its extra reads what to install."""
    monkeypatch.setattr("harness.index.sqlite_vec.find_spec", lambda name: None if name == missing else name)
    with pytest.raises(SettingError, match=r"pip install 'retrieval-harness\[sqlite\]'"):
        SqliteVecIndex()
