from __future__ import annotations

import numpy as np
import pytest

from harness.chunker.columns import check_chunks
from harness.errors import SettingError
from harness.records import Chunk, Document

TEXT = "One two.\n\nThree."
DOCUMENT = Document("a.md", TEXT)


def test_good_chunks_pass_as_plain_integers() -> None:
    """Numpy offsets and bare tuples are fine; what comes out is chunks with Python's integers."""
    chunks = check_chunks(DOCUMENT, iter([("a.md", np.int64(0), np.int64(8)), Chunk("a.md", 4, 16)]))
    assert chunks == [Chunk("a.md", 0, 8), Chunk("a.md", 4, 16)]
    assert all(type(one.start) is int and isinstance(one, Chunk) for one in chunks)


def test_text_may_be_left_out() -> None:
    """A chunker that drops headers on purpose can be measured."""
    assert check_chunks(DOCUMENT, [Chunk("a.md", 10, 16)]) == [Chunk("a.md", 10, 16)]
    assert check_chunks(DOCUMENT, []) == []


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (Chunk("b.md", 4, 8), "names another document"),
        (Chunk("a.md", 4, 4), r"0 <= start < end <= 16"),
        (Chunk("a.md", 8, 4), r"0 <= start < end <= 16"),
        (Chunk("a.md", -3, 8), r"0 <= start < end <= 16"),
        (Chunk("a.md", 4, 17), r"0 <= start < end <= 16"),
        (Chunk("a.md", 8, 10), "nothing but white space"),
        (Chunk("a.md", 0, 8), r"begins or ends before the chunk that precedes it, \('a.md', 2, 6\)"),
        (Chunk("a.md", 3, 5), "begins or ends before"),
        (Chunk("a.md", 2, 6), "equals the chunk that precedes it"),
        (("a.md", 4.0, 8.0), "integer offsets"),
        (("a.md", 4), "integer offsets"),
        ("Three." * 100, "integer offsets"),
        (None, "integer offsets"),
    ],
)
def test_the_first_wrong_chunk_is_shown(wrong, reason: str) -> None:
    """The message names the document, which chunk, its offsets, and the rule that it breaks."""
    with pytest.raises(SettingError, match=reason) as error:
        check_chunks(DOCUMENT, [Chunk("a.md", 2, 6), wrong])
    message = str(error.value)
    assert message.startswith("The chunker's chunk 2 of document 'a.md' is ")
    assert len(message) < 500
    assert error.value.key == "chunker"
