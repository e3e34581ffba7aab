"""The pipeline hands each stage its inputs; no stage changes them, and metrics call nobody."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cached_property

import numpy as np
import pytest

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cli import compose
from harness.cli.command import take_apart


def test_only_questions_without_a_ranked_row_are_asked_for():
    """Ranks within the ranking stand; the others come from one call, which gets no rows for questions that need none."""
    asked = []

    def ask(rows):
        asked.append([found.tolist() for found in rows])
        return np.array([0, 40, 0])

    relevant = [np.array([3]), np.array([7, 8]), np.array([], np.int64)]
    ranks = pipeline.first_ranks(np.array([2, 0, 0]), relevant, ask)

    assert ranks.tolist() == [2, 40, 0]
    assert asked == [[[], [7, 8], []]]
    assert pipeline.first_ranks(np.array([2, 0]), [relevant[0], relevant[2]], ask).tolist() == [2, 0]
    assert len(asked) == 1


def frozen(value):
    """Everything that a value holds, as something that compares: arrays by their bytes, dataclasses by their fields."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if is_dataclass(value):
        return [frozen(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, (list, tuple)):
        return [frozen(item) for item in value]
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    if type(value).__name__ == "TokenMap":
        return frozen(value.starts)
    return value


@pytest.mark.models
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("retriever=bm25",),
        ("retriever=hybrid", "context=title"),
        ("chunker=parent", "chunk=16", "chunker.parent=64"),
    ],
    ids=str,
)
def test_no_stage_changes_what_it_was_given(workplace, words):
    """Documents, token maps, labels, chunks and rankings are the same after the whole cell as before."""
    taken = take_apart(
        [
            *("corpus=folder", f"corpus.path={workplace.documents}", f"golden.path={workplace.golden}"),
            *("model=wordllama", "chunk=24", f"cache={workplace.root}/cache", *words),
        ]
    )
    cell = Shared().components(compose.composed(taken, taken.overrides).config)
    given = (cell.inputs.documents, cell.inputs.tokens, cell.inputs.labels.questions, cell.chunks)
    before = frozen(given)
    questions = list(cell.inputs.labels.questions)
    prepared = pipeline.prepare(cell)
    ranking = pipeline.rank(cell, prepared, "span", questions, [1, 5])
    ranked = frozen(ranking)
    first = pipeline.evaluate(cell, [1, 5], "recall_at_5")

    assert frozen(given) == before
    assert frozen(ranking) == ranked == frozen(first.rankings["span"])
    assert frozen(pipeline.evaluate(cell, [1, 5], "recall_at_5").scores) == frozen(first.scores)
    assert isinstance(type(cell).__dict__["retriever"], cached_property)  # one object, made once
