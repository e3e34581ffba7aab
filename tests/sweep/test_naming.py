"""What cells are called."""

from __future__ import annotations

import pytest

from harness.records import UNUSED
from harness.sweep.naming import cell_name

SETTINGS = {
    "model": "minilm",
    "chunk": "128",
    "retriever": "dense",
    "retriever.k1": "1.2",
    "corpus.path": "/a/docs",
}


@pytest.mark.parametrize(
    ("axes", "changed", "name"),
    [
        (["model", "chunk"], {}, "minilm · 128"),
        ([], {}, "minilm · 128"),
        (["chunk"], {}, "chunk 128"),
        (["model"], {}, "minilm"),
        (["retriever.k1"], {}, "k1=1.2"),
        (["chunk", "retriever.k1"], {}, "128 · k1=1.2"),
        (["corpus.path"], {}, "path=docs"),
        (["model", "chunk"], {"model": UNUSED, "retriever": "bm25"}, "bm25 · 128"),
        (["retriever", "model"], {"model": UNUSED, "retriever": "bm25"}, "bm25"),
    ],
)
def test_a_name_is_clear_by_itself(axes, changed, name):
    """A number never stands alone; what does not matter to the cell is left out."""
    assert cell_name(SETTINGS | changed, {axis: ["a", "b"] for axis in axes}) == name
