from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.records import Document
from harness.text.spans import Span, find_spans, span_at

# Letters, blanks of one and of two bytes, and a separator that str.split() takes for white space.
TEXT = st.text("ab\u4e00\U0001f600 \n\r\t\u00a0\u3000\u2028\x1f", max_size=80)


def by_hand(words, documents):
    """Every place of the words, tried at every offset with a regular expression; none for a text that is blank."""
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
    """What stands as written is found as written; all else by its words, with the document's own characters as span."""
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
