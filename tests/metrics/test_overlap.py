from __future__ import annotations

import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_reference import random_case

from harness.metrics.intervals import cut_into_pieces, expand, meeting, union_lengths
from harness.metrics.nonblank import NonblankOffsets
from harness.metrics.relevance import UNRANKED, ranks_of
from harness.records import Document

many = settings(max_examples=300, deadline=None, derandomize=True)
intervals = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 15), st.integers(0, 15)), max_size=12)


def columns(rows: list[tuple[int, ...]], width: int) -> list[np.ndarray]:
    return list(np.array(rows, dtype=np.int64).reshape(-1, width).T)


@many
@given(intervals)
def test_union_lengths_count_every_character_once(drawn):
    """Equal to sets, for any order, nested, equal, empty and turned-around intervals."""
    lengths = union_lengths(*columns(drawn, 3), 4)
    expected = [len({i for g, s, e in drawn if g == group for i in range(s, e)}) for group in range(4)]
    assert lengths.tolist() == expected


@many
@given(intervals)
def test_pieces_partition_the_union_and_know_their_intervals(drawn):
    """Every character of the union lies in one piece, which names exactly the intervals that hold it."""
    drawn = [(g, min(s, e), max(s, e)) for g, s, e in drawn]
    pieces = cut_into_pieces(*columns(drawn, 3))
    members = np.split(pieces.member, pieces.first[1:])
    seen = []
    for span, start, length, held in zip(pieces.span, pieces.start, pieces.length, members, strict=False):
        for i in range(start, start + length):
            seen.append((int(span), i))
            assert set(held.tolist()) == {n for n, (g, s, e) in enumerate(drawn) if g == span and s <= i < e}
    assert sorted(seen) == sorted({(g, i) for g, s, e in drawn for i in range(s, e)})


@many
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_meeting_finds_exactly_the_chunks_that_share_a_character_or_touch(seed, touching):
    """Also with chunks inside chunks; a document that is not there meets nothing."""
    rng = Random(seed)
    chunks = random_case(rng).chunks
    spans = []
    for _ in range(6):
        start, end = sorted((rng.randint(0, 40), rng.randint(1, 41)))
        spans.append((rng.randint(-2, len(chunks.documents) - 1), start, max(end, start + 1)))
    pairs = meeting(chunks, *columns(spans, 3), touching=touching)
    slack = 1 if touching else 0
    expected = [
        (i, row)
        for i, (doc, start, end) in enumerate(spans)
        for row in range(len(chunks))
        if chunks.doc[row] == doc and chunks.start[row] < end + slack and chunks.end[row] > start - slack
    ]
    assert list(zip(pairs.span.tolist(), pairs.row.tolist(), strict=True)) == expected


def test_expand_lists_the_ranges_and_where_they_come_from():
    """Empty and turned-around ranges give nothing."""
    owner, value = expand(np.array([2, 5, 9, 0]), np.array([4, 5, 7, 1]))
    assert owner.tolist() == [0, 0, 3]
    assert value.tolist() == [2, 3, 0]


def test_white_space_is_what_python_says_it_is():
    """Every code point, alone and beside the highest one."""
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    nonblank = NonblankOffsets([Document("d", text)], np.array([0]))
    counted = np.diff(nonblank.before(np.zeros(len(text) + 1, dtype=np.int64), np.arange(len(text) + 1)))
    blank = {chr(code) for code in np.nonzero(counted == 0)[0]}
    assert blank == {character for character in text if character.isspace()}


def test_offsets_past_the_text_and_unknown_documents_count_every_character():
    """What is not there can't be white space, so it stays below the line."""
    nonblank = NonblankOffsets([Document("a", "x y"), Document("b", "zz")], np.array([0, -3]))
    docs = np.array([0, 0, 0, -1, -3])
    assert nonblank.before(docs, np.array([2, 3, 7, 4, 5])).tolist() == [1, 2, 6, 4, 5]
    assert NonblankOffsets([], np.zeros(0, dtype=np.int64)).before(
        np.array([-1]), np.array([4])
    ).tolist() == [4]


def test_a_row_that_came_back_twice_counts_at_its_better_rank():
    """And a row that did not come back, or does not exist, has no rank."""
    rows = np.array([[4, 2, 4, -1], [1, -1, -1, -1]])
    ranks = ranks_of(rows, np.array([0, 0, 0, 1, 1]), np.array([4, 2, 1, 1, -2]), 5)
    assert ranks.tolist() == [1, 2, UNRANKED, 1, UNRANKED]


@pytest.mark.parametrize("size", [0, 1])
def test_nothing_in_gives_nothing_out(size):
    """Empty inputs keep their shapes."""
    none = np.zeros(0, dtype=np.int64)
    assert union_lengths(none, none, none, size).tolist() == [0] * size
    pieces = cut_into_pieces(none, none, none)
    assert [len(column) for column in pieces] == [0] * 5
    assert pieces.smallest(none).tolist() == []
