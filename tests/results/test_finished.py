"""A cell is found by its name, as it is typed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sweeps_by_hand import cell, sweep

from harness.decision.baseline import baseline
from harness.errors import SettingError
from harness.results.load import cells_of
from harness.results.scores import compared


def named(name, **params):
    """A cell with these settings."""
    return replace(cell("x", params, recall_at_5=[1.0, 0.0]), name=name)


CELLS = sweep(
    named("minilm · k1=1.4 · title", **{"model": "minilm", "retriever.k1": "1.4", "context": "title"}),
    named("minilm · k1=1.5 · title", **{"model": "minilm", "retriever.k1": "1.5", "context": "title"}),
    named("bge · k1=1.5 · none", **{"model": "bge", "retriever.k1": "1.5", "context": "none"}),
    named("chunk 128", chunk="128"),
    axes={},
)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("minilm · k1=1.4 · title", 0),
        ("minilm . k1=1.4 . title", 0),
        ("minilm k1=1.4 title", 0),
        (" minilm·k1=1.4·title ", 0),
        ("minilm.k1=1.4.title", 0),
        ("minilm, k1=1.4, title", 0),
        ("model=minilm retriever.k1=1.4 context=title", 0),
        ("k1=1.4 model=minilm", 0),
        ("model=bge · k1=1.5", 2),
        ("model=bge", 2),
        ("chunk=128", 3),
        ("chunk.128", 3),
    ],
)
def test_a_name_may_be_typed_plainly(word, found):
    """Blanks and dots for the middle dot; settings where only one cell has them."""
    assert CELLS.cell(word) is CELLS.cells[found]


@pytest.mark.parametrize(
    "word", ["minilm", "k1=1.5", "minilm k1=1.6 title", "model=minilm", "128", "", " ", "="]
)
def test_what_fits_no_cell_or_several_is_refused(word):
    """Nothing is guessed."""
    with pytest.raises(KeyError):
        CELLS.cell(word)


def test_a_long_list_of_cells_says_how_many_more():
    """Twelve are named, and the rest counted, wherever a cell is asked for."""
    many = sweep(*(named(f"cell {i}") for i in range(120)), axes={})

    said = cells_of(many, "zzz")
    assert said == f" Its cells: {', '.join(f'cell {i}' for i in range(12))} and 108 more."
    assert cells_of(sweep(named("a"), named("b"), axes={}), "zzz") == " Its cells: a, b."
    with pytest.raises(SettingError, match="cell 11 and 108 more"):
        baseline("zzz", many, compared(many, "recall_at_5"), "recall_at_5")
