"""Chunks that are searched, parents that are scored: by hand, and against the second implementation."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_conf import built_in_measures
from metrics_reference import Reference, random_case
from scored import score_all

from harness.metrics import Scores
from harness.metrics.health import health
from harness.metrics.suite import Suite
from harness.records import Chunks, Document, Encoded, Evidence, Question, Ranking
from harness.text.tokens import TokenMap

#       0         1         2         3
#       0123456789012345678901234567890123456789
TEXT = "aaaa bbbb cccc dddd eeee ffff gggg hhhh "
WORDS = TokenMap(np.arange(0, 40, 5), 40)


def halves() -> Chunks:
    """Two parents of four words, each of two chunks of two words."""
    start = np.arange(0, 40, 10)
    parents = Chunks([Document("d", TEXT)], np.zeros(2, np.int64), start[::2], start[::2] + 20, np.full(2, 4))
    return Chunks(parents.documents, 0 * start, start, start + 10, np.full(4, 2), parents=parents)


def scored(
    rows: list[int], evidence: Evidence, encoded: Encoded | None = None, primary: str = "mrr"
) -> Scores:
    suite = Suite(built_in_measures(), budgets=[3, 6])
    ranking = Ranking(np.array([rows]), -np.arange(len(rows), dtype=np.float32)[None])
    question = Question("q", "?", (evidence,))
    return score_all(
        suite,
        "span",
        [question],
        ranking,
        halves(),
        [WORDS],
        [1, 2],
        lambda _: np.zeros(1, np.int64),
        encoded,
        primary,
    )


def test_by_hand() -> None:
    """Evidence "ffff" (25 to 29) is in the second parent, which comes first; what is read and paid for are parents."""
    values = {name: column[0] for name, column in scored([1, 0], Evidence("d", 25, 29)).values.items()}

    assert (values["recall_at_1"], values["mrr"], values["precision_at_2"]) == (1, 1, 0.5)
    assert (values["context_tokens_at_1"], values["context_tokens_at_2"]) == (4, 8)
    # Of a parent of 20 characters 4 are evidence.
    assert values["char_precision_at_1"] == 4 / 20
    # Three tokens end at "gggg", so "hhhh" (35 to 39) is beyond them and within six.
    assert values["recall_at_3_tokens"] == 1
    values = {name: column[0] for name, column in scored([1, 0], Evidence("d", 35, 39)).values.items()}
    assert (values["recall_at_3_tokens"], values["recall_at_6_tokens"], values["recall_at_1"]) == (0, 1, 1)


def encoded(*seen: int) -> Encoded:
    """A model that read ``seen`` of the ten characters of each chunk, a token a word of five."""
    characters = np.array(seen)
    return Encoded(np.zeros((4, 0), np.float32), np.full(4, 2), characters // 5, characters)


def test_what_was_seen_is_a_matter_of_the_chunks() -> None:
    """The model read half of chunk 2 ("eeee"): "ffff" is seen by no vector, though its parent is one of two that were ranked."""
    model, question = encoded(10, 10, 5, 10), Question("q", "?", (Evidence("d", 20, 29),))
    figures = health(halves(), model, [question])

    assert {
        name: figures[name]
        for name in ("chunks", "chunk_tokens_mean", "parent_chunks", "parent_chunk_tokens_mean")
    } == {
        "chunks": 4,
        "chunk_tokens_mean": 2,
        "parent_chunks": 2,
        "parent_chunk_tokens_mean": 4,
    }
    assert (figures["parent_chunk_tokens_p95"], figures["truncated_chunks"]) == (4, 1)
    assert figures["truncated_tokens"] == 1 / 8
    assert figures["truncated_evidence"] == 4 / 8
    # "ffff" is missing after the first row, and unseen; had it been seen, it would only not have been retrieved.
    missing = Evidence("d", 25, 29)
    assert scored([0, 1], missing, model, "recall_at_1").cause == ("truncated",)
    assert scored([0, 1], missing, encoded(10, 10, 10, 10), "recall_at_1").cause == ("not_retrieved",)
    assert scored([1, 0], missing, model, "recall_at_1").cause == ("found",)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_every_metric_is_that_of_the_parents(seed: int) -> None:
    """However the parents are cut into the chunks that were searched, every value equals its definition on parents."""
    rng = Random(seed)
    case = random_case(rng, overlapping=False)
    parents, rows = case.chunks, []
    for doc, start, end in zip(
        *(column.tolist() for column in (parents.doc, parents.start, parents.end)), strict=True
    ):
        cuts = sorted({start, end, *(rng.randint(start, end) for _ in range(rng.randint(0, 3)))})
        rows += [(doc, low, high) for low, high in pairwise(cuts)]
    doc, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    children = Chunks(parents.documents, doc, start, end, end - start, parents=parents)
    suite = Suite(built_in_measures(), budgets=case.budgets)
    scores = score_all(
        suite,
        "span",
        case.questions,
        case.ranking,
        children,
        case.maps,
        case.ks,
        case.first_ranks,
        None,
        "mrr",
    )
    for i in range(len(case.questions)):
        reference = Reference(case, i)
        expected = reference.span_metrics() | reference.row_metrics()
        assert expected.keys() == scores.values.keys()
        for name, value in expected.items():
            assert scores.values[name][i] == pytest.approx(value, abs=1e-9), (i, name)
    assert suite.is_deep_enough(children, case.ranking) == suite.is_deep_enough(parents, case.ranking)
