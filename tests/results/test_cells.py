"""What is true of questions in every cell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.cell.build import Inputs
from harness.corpus import Loaded
from harness.golden import Labels
from harness.records import Document, Evidence, Question
from harness.results.cells import about_questions
from harness.text.tokens import TokenMap


def inputs(texts, questions):
    """Documents whose tokens begin at every second character."""
    documents = tuple(Document(doc_id, text) for doc_id, text in sorted(texts.items()))
    maps = [TokenMap(np.arange(0, len(d.text), 2, dtype=np.int64), len(d.text)) for d in documents]
    return Inputs(Loaded(documents, "d"), documents, maps, Labels("g", tuple(questions), {}, {}, "d"), None)


def asked(question_id, *evidence, text="what"):
    return Question(question_id, text, evidence)


def test_it_is_found_out_once_for_all_cells() -> None:
    """The same inputs give the same object; others, however alike, are looked at themselves."""
    texts, questions = {"a.md": "x y"}, [asked("q1", Evidence("a.md", 0, 1))]
    given = inputs(texts, questions)

    assert about_questions(given) is about_questions(given)
    assert about_questions(given) is not about_questions(inputs(texts, questions))


def test_long_documents_are_cut_into_blocks() -> None:
    """A document of exactly 2,000 tokens is one cluster; of a longer one every 2,000 tokens are, counted from 1."""
    # Two characters are a token: 4,000 characters are 2,000 tokens, and token 2,000 begins at character 4,000.
    given = inputs(
        {"short.md": "x" * 4000, "long.md": "x" * 9000},
        [
            asked("q1", Evidence("short.md", 3990, 3999)),
            asked("q2", Evidence("long.md", 0, 4500)),
            asked("q3", Evidence("long.md", 3998, 4002)),
            asked("q4", Evidence("long.md", 4000, 4002)),
            asked("q5", Evidence("long.md", 8999, 9000)),
            asked("q6", Evidence("long.md"), Evidence("short.md", 0, 5)),
            asked("q7", Evidence("(lost) long.md", 8100, 8200, "gone")),
            asked("q8", Evidence("(lost) nowhere.md", 0, 4, "gone")),
        ],
    )
    clusters = [about.cluster for about in about_questions(given).values()]

    assert clusters == [
        "short.md",
        "long.md#1",
        "long.md#1",
        "long.md#2",
        "long.md#3",
        "long.md",
        "long.md#3",
        "nowhere.md",
    ]


def test_overlap_is_the_share_of_words_in_all_quotes() -> None:
    """Of five distinct words two stand in the evidence, one in each; whole documents have none; lost evidence keeps its quote."""
    text = "Green tea is steeped. Black tea takes long."
    words = "Is black coffee green enough?"  # is, black, coffee, green, enough
    given = inputs(
        {"tea.md": text},
        [
            asked("two", Evidence("tea.md", 0, 9), Evidence("tea.md", 22, 31), text=words),
            asked("document", Evidence("tea.md"), text=words),
            asked("lost", Evidence("(lost) tea.md", 0, 11, "coffee"), text=words),
        ],
    )
    overlap = {question_id: about.overlap for question_id, about in about_questions(given).items()}

    assert overlap["two"] == pytest.approx(2 / 5)
    assert math.isnan(overlap["document"])
    assert overlap["lost"] == pytest.approx(1 / 5)
