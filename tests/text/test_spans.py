"""Where texts stand in a corpus, against a search that tries every offset."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.records import Document
from harness.text import spans as module
from harness.text.spans import Span, find_occurrences, find_similar, find_spans, span_at

# Letters, blanks of one and of two bytes, and a separator that str.split() takes for white space.
TEXT = st.text("ab\u4e00\U0001f600 \n\r\t\u00a0\u3000\u2028\x1f", max_size=80)


def by_hand(words, documents):
    """Every place of the words, tried at every offset with a regular expression.

    None for a text that is blank.
    """
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    spans = []
    for index, document in enumerate(documents):
        for start in range(len(document.text)):
            match = pattern.match(document.text, start)
            if words and match:
                spans.append(Span(index, *match.span()))
    return spans


@settings(derandomize=True, max_examples=300)
@given(st.lists(TEXT, min_size=1, max_size=5), st.data())
def test_finds_words_whatever_white_space_stands_between_them(texts, data):
    """What stands as written is found as written.

    All else by its words, with the document's own characters as span.
    """
    documents = [Document(str(i), text) for i, text in enumerate(texts)]
    quotes = {"a \n b", "ab " * 12}
    for text in texts:
        start = data.draw(st.integers(0, len(text)))
        quotes.add("\u2003 \n".join(text[start : data.draw(st.integers(start, len(text)))].split()) + "\n")

    found = find_spans(quotes, documents, 100)

    for quote in quotes:
        exact = [span for span in by_hand([quote], documents) if quote]
        assert found[quote] == (exact or by_hand(quote.split(), documents)), quote


@settings(derandomize=True, max_examples=300)
@given(TEXT, TEXT.filter(str.strip), st.data())
def test_a_quote_stands_at_an_offset_if_its_words_do(text, quote, data):
    """From the offset on there may be white space, then the words, parted by some."""
    start = data.draw(st.integers(0, len(text)))
    text = (
        text[:start]
        + data.draw(st.sampled_from(["", " \r\n", "a"]))
        + "\n".join(quote.split())
        + text[start:]
    )
    match = re.compile(r"\s*(" + r"\s+".join(map(re.escape, quote.split())) + ")").match(text, start)

    found = span_at(quote, text, start)

    if text.startswith(quote, start):
        assert found == (start, start + len(quote))
    else:
        assert found == (match.span(1) if match else None)


def tried(text, documents, limit):
    """The occurrences of ``text``, every offset tried."""
    hits = [
        Span(index, start, start + len(text))
        for index, document in enumerate(documents)
        for start in range(len(document.text) if text else 0)
        if document.text[start : start + len(text)] == text
    ]
    return hits[:limit]


def corpus(*texts):
    return [Document(str(i), text) for i, text in enumerate(texts)]


@pytest.mark.parametrize("block", [1 << 18, 1, 40], ids=["whole", "by the character", "in blocks"])
@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(st.text("ab \u4e00😀\ufffd\ud800\udfff", max_size=120), min_size=1), st.data(), st.integers(1, 5)
)
def test_finds_what_a_search_by_hand_finds(block, texts, data, limit):
    """Quotes of any length, overlapping, repeated, in empty documents, beginnings of others.

    Lone surrogates are themselves.
    """
    documents = corpus(*texts)
    quotes = {"", "\ud800", "ababababab", "b" * 40, "\ud800" * 9, "\udfff" * 9, "\ufffd" * 9}
    for text in texts:
        if text:
            start = data.draw(st.integers(0, len(text) - 1))
            quotes.add(text[start : data.draw(st.integers(start + 1, len(text)))])
            quotes |= {text[start:], text[start : start + 9], text[start : start + module._HEAD]}
    before = module._BLOCK
    module._BLOCK = block
    try:
        found = find_occurrences(quotes, documents, limit)
    finally:
        module._BLOCK = before

    assert found == {quote: tried(quote, documents, limit) for quote in quotes}


def test_texts_longer_than_a_block_are_found_across_its_border():
    """Wherever a text begins, and whatever its length, it is found once."""
    page = "".join(f"fact {i:05d} is {i * i}; " for i in range(20_000))
    starts = [0, module._BLOCK - 1, module._BLOCK - 63, module._BLOCK - 64, module._BLOCK, len(page) - 90]
    quotes = {page[start : start + length] for start in starts for length in (9, 63, 64, 65, 90)}

    found = find_occurrences(quotes, corpus(page), 3)

    for quote in quotes:
        starts = [match.start() for match in re.finditer(f"(?={re.escape(quote)})", page)][:3]
        assert found[quote] == [Span(0, start, start + len(quote)) for start in starts]


def test_common_beginnings_do_not_hide_a_quote():
    """A quote that begins with a long row of dashes is found behind a hundred thousand dashes."""
    documents = corpus("-" * 100_000 + " total 512 ", "-" * 50)
    quote = "-" * 80 + " total 512"

    assert find_occurrences({quote}, documents, 3) == {quote: [Span(0, 99_920, 100_010)]}


def test_similar_text_needs_six_tenths_of_the_words_in_order():
    """Of ten words, six that are left are enough and five are not; their order counts."""
    quote = "The warranty covers batteries, sensors and pumps for five years."
    six = "The warranty covers batteries, sensors and nothing else at all."
    five = "The warranty covers batteries, sensors but nothing else at all."
    turned = "years five for pumps and sensors, batteries covers warranty The."
    documents = corpus("Unrelated words. " * 20, "Preface of the page. " + six)

    assert find_similar({quote}, documents)[quote].document == 1
    assert find_similar({quote}, corpus(five)) == {}
    assert find_similar({quote}, corpus(turned)) == {}
