from __future__ import annotations

import numpy as np
import pytest

from harness.errors import SettingError
from harness.records import Chunks, Document
from harness.retriever.random import RandomRetriever

QUESTIONS = [f"question {i}" for i in range(2000)]


def built(documents, **given):
    """Chunks of one character; ``documents`` says how many each document has."""
    doc = np.repeat(np.arange(len(documents)), documents)
    start = np.concatenate([np.arange(n) for n in documents])
    chunks = Chunks(
        [Document(f"{i}", "x" * n) for i, n in enumerate(documents)], doc, start, start + 1, start * 0 + 1
    )
    retriever = RandomRetriever(**given)
    retriever.build(chunks, None, None)
    return retriever


def test_every_place_is_as_likely():
    """Over 2,000 questions each of five chunks comes first a fifth of the time."""
    first = built([2, 3]).search(QUESTIONS, 1).rows[:, 0]

    # Binomial: 400 expected, deviation 17.9; five deviations.
    assert np.abs(np.bincount(first, minlength=5) - 400).max() < 90


def test_a_document_is_as_lucky_as_it_has_chunks():
    """With one chunk of four a document wins a quarter of the time; one without chunks never does."""
    first = built([1, 0, 3]).search(QUESTIONS, 1, np.array([0, 1, 1, 4])).rows[:, 0]
    counts = np.bincount(first, minlength=3)

    assert counts[1] == 0
    assert abs(counts[0] - 500) < 97  # five deviations of 19.4


def test_the_same_question_has_the_same_lots():
    """In whatever company and order it is asked; another seed gives others."""
    retriever = built([4, 4])
    alone = retriever.search(["b"], 8).rows[0].tolist()

    assert retriever.search(["a", "b", "b"], 8).rows[1:].tolist() == [alone, alone]
    assert built([4, 4], seed=1).search(["b"], 8).rows[0].tolist() != alone
    assert sorted(alone) == list(range(8))


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_a_wrong_seed_is_named(seed):
    """Only whole numbers of at least 0."""
    with pytest.raises(SettingError, match=f"retriever.seed is {seed}; it must be a whole number"):
        RandomRetriever(seed=seed)
