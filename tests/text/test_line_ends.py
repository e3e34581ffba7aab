"""Texts whose lines end in other ways, and offsets in both."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.text.encodings import LineEnds
from harness.text.tokenizer import load_tokenizer


def test_by_hand():
    r"""Of "a\r\nb\r\r\nc" the unified text is "a\nb\n\nc": its 6 offsets, and its end."""
    ends = LineEnds("a\r\nb\r\r\nc")

    assert ends.unified == "a\nb\n\nc"
    assert ends.original(np.arange(7)).tolist() == [0, 1, 3, 4, 5, 7, 8]
    assert ends.in_unified(np.arange(9)).tolist() == [0, 1, 1, 2, 3, 4, 4, 5, 6][:9]


@settings(derandomize=True, deadline=None)
@given(st.text(st.sampled_from("ab\r\n"), max_size=30), st.data())
def test_a_span_holds_the_same_text(text, data):
    """What stands between two offsets of the unified text stands between their counterparts."""
    ends = LineEnds(text)
    start, end = sorted(data.draw(st.integers(0, len(ends.unified))) for _ in "se")
    low, high = ends.original(np.array([start, end])).tolist()

    assert LineEnds(text[low:high]).unified == ends.unified[start:end]
    assert ends.in_unified(np.array([low, high])).tolist() == [start, end]


def test_a_tokenizer_that_sees_line_ends_counts_them_alike(tmp_path):
    r"""A tokenizer of single characters: "a\r\nb" has three tokens, as "a\nb" has, at 0, 1 and 3."""
    import tokenizers

    backend = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"a": 0, "b": 1, "\n": 2, "\r": 3, "?": 4}, unk_token="?")
    )
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    backend.save(str(tmp_path / "tokenizer.json"))
    maps = load_tokenizer(str(tmp_path)).map(["a\nb", "a\r\nb", "a\rb", "b"])

    assert [one.starts.tolist() for one in maps] == [[0, 1, 2], [0, 1, 3], [0, 1, 2], [0]]
    assert [one.length for one in maps] == [3, 4, 3, 1]
