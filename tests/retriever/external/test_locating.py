from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.records import Document
from harness.retriever import Row
from harness.retriever.external.locating import key, locate

DOCUMENTS = [
    Document("a.md", "Green tea, two minutes.\n\nBlack tea, four."),
    Document("b.md", "Coffee: 60 grams.  Black tea, four."),
    Document("c#1-2", "odd id"),
]


def at(**row):
    """The one row's document, span as plain numbers, whether it is ambiguous, and the reason."""
    found = locate([Row(**row)], DOCUMENTS)[Row(**row)]
    return found.doc, None if found.span is None else tuple(found.span), found.is_ambiguous, found.reason


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"id": "a.md"}, (0, (0, 0, 41), False, "")),
        ({"id": "a.md", "start": 0, "end": 9}, (0, (0, 0, 9), False, "")),
        ({"id": "a.md:0-9"}, (0, (0, 0, 9), False, "")),
        ({"id": "a.md#0-9"}, (0, (0, 0, 9), False, "")),
        ({"id": "c#1-2"}, (2, (2, 0, 6), False, "")),
        ({"id": "c#1-2#0-3"}, (2, (2, 0, 3), False, "")),
        ({"id": "b.md", "text": "Black tea, four."}, (1, (1, 19, 35), False, "")),
        ({"text": "two minutes. Black tea,"}, (0, (0, 11, 35), False, "")),
        ({"text": "Black tea, four."}, (0, (0, 25, 41), True, "")),
        ({"id": "chunk-7", "text": "60 grams."}, (1, (1, 8, 17), False, "")),
        # What is told with its offsets may have a heading before it, or be cut.
        ({"id": "a.md", "start": 11, "end": 23, "text": "Tea\n\ntwo  minutes."}, (0, (0, 11, 23), False, "")),
        ({"id": "a.md", "start": 0, "end": 23, "text": "Green tea,"}, (0, (0, 0, 23), False, "")),
        # The id is wrong or its document is another one: the text decides where it stands.
        ({"id": "a.md", "text": "60 grams."}, (0, (1, 8, 17), False, "")),
        ({"id": "a.md", "start": 0, "end": 5, "text": "60 grams."}, (0, (1, 8, 17), False, "")),
        ({"id": "a.md", "start": 0, "end": 99, "text": "Green tea"}, (0, (0, 0, 9), False, "")),
    ],
    ids=str,
)
def test_where_a_row_stands(row, expected):
    """By id, by an id with offsets, by offsets, by text in its document or in any; offsets count only with their text."""
    assert at(**row) == expected


@pytest.mark.parametrize(
    ("row", "doc", "reason"),
    [
        ({}, -1, "neither an id nor a text"),
        ({"text": " \n"}, -1, "neither an id nor a text"),
        ({"id": "x"}, -1, "no document has this id, and there is no text"),
        ({"id": "x", "text": "milk"}, -1, "no document has this id, and its text stands in none"),
        ({"id": "a.md", "text": "milk"}, 0, "its text stands in no document"),
        (
            {"id": "a.md", "start": 5, "end": 5},
            0,
            "the offsets 5 to 5 lie outside of a document of 41 characters",
        ),
        (
            {"id": "a.md", "start": -1, "end": 5},
            0,
            "the offsets -1 to 5 lie outside of a document of 41 characters",
        ),
        ({"id": "a.md:5-99"}, 0, "the offsets 5 to 99 lie outside of a document of 41 characters"),
        # A field that could not be read is no licence to take the whole document.
        ({"id": "a.md", "fault": "start is a str"}, 0, "start is a str"),
    ],
    ids=str,
)
def test_what_stands_nowhere_says_why(row, doc, reason):
    """Nothing is guessed; a known id still names the document."""
    assert at(**row) == (doc, None, False, reason)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.integers(0, 40),
    st.integers(1, 41),
    st.lists(st.sampled_from([" ", "\n", "\t  "]), min_size=1, max_size=3),
)
def test_any_piece_is_found_again_whatever_its_white_space(start, length, blanks):
    """A piece of a document, its white space changed, stands where its words stand."""
    text = DOCUMENTS[0].text
    piece = text[start : start + length]
    if not piece.strip():
        return
    changed = "".join(blanks).join(piece.split())
    row = Row(id="a.md", text=changed)
    span = locate([row], DOCUMENTS)[row].span

    assert text[span.start : span.end].split() == piece.split()
    assert key(row._replace(score=2.0)) == row
