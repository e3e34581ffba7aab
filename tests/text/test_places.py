from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.records import Document
from harness.text import find as module
from harness.text.find import Place, find_places


def by_hand(text, documents, limit):
    """Every offset tried, one by one."""
    hits = [
        Place(index, start)
        for index, document in enumerate(documents)
        for start in range(len(document.text))
        if document.text[start : start + len(text)] == text
    ]
    return hits[:limit]


def corpus(*texts):
    return [Document(str(i), text) for i, text in enumerate(texts)]


FEW_LETTERS = st.text("ab \u4e00😀", max_size=120)


@pytest.fixture(params=[0, 100], ids=["hashed", "one by one"], autouse=True)
def few(request, monkeypatch):
    """Few texts are found one by one, many by their hashes; both ways must give the same."""
    monkeypatch.setattr(module, "_FEW", request.param)


SAME_FIXTURE = [HealthCheck.function_scoped_fixture]


@settings(derandomize=True, max_examples=200, suppress_health_check=SAME_FIXTURE)
@given(st.lists(FEW_LETTERS, min_size=1, max_size=6), st.data(), st.integers(1, 5))
def test_finds_what_a_search_by_hand_finds(texts, data, limit):
    """For quotes of any length, overlapping, repeated, across no border of documents, and for those that stand nowhere."""
    documents = corpus(*texts)
    quotes = {"ababababab", "b" * 40}
    for text in texts:
        if text:
            start = data.draw(st.integers(0, len(text) - 1))
            quotes.add(text[start : data.draw(st.integers(start + 1, len(text)))])

    found = find_places(quotes, documents, limit)

    assert found == {quote: by_hand(quote, documents, limit) for quote in quotes}


@settings(derandomize=True, max_examples=60, suppress_health_check=SAME_FIXTURE)
@given(FEW_LETTERS.filter(lambda text: len(text) > 60), st.integers(40, 70), st.data())
def test_long_documents_are_searched_in_pieces_without_a_seam(text, size, data):
    """A quote across the border of two pieces is found, and once."""
    documents = corpus("x" * 30, text * 3, "y")
    start = data.draw(st.integers(0, len(text)))
    quotes = {(text * 3)[start : start + length] for length in (8, 17, 33, 60)}
    before = module._BLOCK_CHARACTERS
    module._BLOCK_CHARACTERS = size
    try:
        found = find_places(quotes, documents, 50)
    finally:
        module._BLOCK_CHARACTERS = before

    assert found == {quote: by_hand(quote, documents, 50) for quote in quotes}


def test_common_windows_do_not_hide_a_quote():
    """A quote that begins with a long row of dashes is found behind a hundred thousand dashes."""
    documents = corpus("-" * 100_000 + " total 512 ", "-" * 50)
    quote = "-" * 40 + " total 512"

    assert find_places({quote}, documents, 3) == {quote: [Place(0, 99_960)]}
