from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.index.exact import ExactIndex
from harness.records import Chunks, Document, Encoded
from harness.retriever.bm25 import Bm25Retriever
from harness.retriever.dense import DenseRetriever
from harness.retriever.hybrid import HybridRetriever

# Rows 0 to 3, with a vector each; the question "red fox" has the vector (1, 0).
TEXTS = {"red hen": (0.8, 0.6), "red red fox": (0.6, 0.8), "old owl": (1, 0), "grey mouse": (0, 1)}
HEN, FOX, OWL, MOUSE = range(4)
# By vectors: owl 1.0, hen 0.8, fox 0.6, mouse 0. By words: fox (both, and red twice), hen; nothing else.


class Known:
    """Vectors as they are written down; (1, 0) for a question."""

    def encode_documents(self, texts):
        return self._encoded([TEXTS[text] for text in texts])

    def encode_queries(self, texts):
        return self._encoded([(1, 0) for _ in texts])

    def _encoded(self, vectors):
        n = np.full(len(vectors), 3, np.int64)
        return Encoded(np.array(vectors, np.float32).reshape(-1, 2), n, n, n)


def chunks_of(documents):
    """One chunk for each text of each document, in order."""
    made, rows = [], []
    for i, texts in enumerate(documents):
        made.append(Document(f"{i:03}", "".join(texts)))
        ends = np.cumsum([len(text) for text in texts])
        rows += [(i, end - len(text), end) for text, end in zip(texts, ends.tolist(), strict=True)]
    doc, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return Chunks(made, doc, start, end, end - start)


def built(documents=tuple([text] for text in TEXTS), **given):
    retriever = HybridRetriever(**{"language": "none"} | given)
    retriever.build(chunks_of(documents), Known(), ExactIndex())
    return retriever


def test_ranks_are_fused_by_hand():
    """Reciprocal rank fusion with k0 1, both lists alike."""
    # hen: second by both: 0.5 / (1 + 2) + 0.5 / (1 + 2) = 1/3.
    # fox: third by vectors, first by words: 0.5 / (1 + 3) + 0.5 / (1 + 1) = 0.375.
    # owl: first by vectors, no word: 0.5 / (1 + 1) = 0.25. mouse: fourth by vectors: 0.5 / (1 + 4) = 0.1.
    ranking = built(k0=1).search(["red fox"], 5)

    assert ranking.rows.tolist() == [[FOX, HEN, OWL, MOUSE, -1]]
    assert ranking.scores[0, :4].tolist() == pytest.approx([0.375, 1 / 3, 0.25, 0.1])
    assert ranking.scores[0, 4] == -np.inf


def test_a_weight_shifts_the_ranks():
    """Vectors with three quarters of the say and k0 1."""
    # hen: 0.75 / 3 + 0.25 / 3 = 1/3. fox: 0.75 / 4 + 0.25 / 2 = 0.3125. owl: 0.75 / 2 = 0.375. mouse: 0.75 / 5 = 0.15.
    ranking = built(k0=1, weight=0.75).search(["red fox"], 4)

    assert ranking.rows.tolist() == [[OWL, HEN, FOX, MOUSE]]
    assert ranking.scores[0].tolist() == pytest.approx([0.375, 1 / 3, 0.3125, 0.15])


def test_scores_are_fused_by_hand():
    """Weighted fusion: each list stretched to 0 to 1, what is not on it gets 0."""
    # By vectors the scores stretch from 1 (owl) to 0 (mouse): owl 1, hen 0.8, fox 0.6, mouse 0.
    # By words there are two: fox 1, hen 0.
    # Halves: fox 0.3 + 0.5 = 0.8, owl 0.5, hen 0.4, mouse 0, which still comes back, since it is on a list.
    ranking = built(fusion="weighted").search(["red fox"], 5)

    assert ranking.rows.tolist() == [[FOX, OWL, HEN, MOUSE, -1]]
    assert ranking.scores[0, :4].tolist() == pytest.approx([0.8, 0.5, 0.4, 0], abs=1e-6)


def test_equal_scores_of_a_list_are_all_its_best():
    """A list of one, or of equal scores, can't be stretched: all on it get 1."""
    # By words only hen is found: 0.5. By vectors the halves are owl 0.5, hen 0.4, fox 0.3, mouse 0.
    ranking = built(fusion="weighted").search(["hen"], 4)

    assert ranking.rows.tolist() == [[HEN, OWL, FOX, MOUSE]]
    assert ranking.scores[0].tolist() == pytest.approx([0.9, 0.5, 0.3, 0], abs=1e-6)


def test_what_is_on_neither_list_has_no_rank():
    """With depth 1 only the best of either comes back, equal scores by the smaller row; the others have rank 0."""
    retriever = built(depth=1)

    assert retriever.search(["red fox"], 4).rows.tolist() == [[FOX, OWL, -1, -1]]
    relevant = [np.array(rows) for rows in ([HEN], [OWL, FOX], [OWL], [])]
    assert retriever.first_ranks(["red fox"] * 4, relevant).tolist() == [0, 1, 2, 0]


def test_a_question_without_known_words_is_the_dense_ranking():
    """Where words find nothing the vectors decide alone."""
    for fusion in ("rrf", "weighted"):
        ranking = built(fusion=fusion).search(["zebra", ""], 4)
        assert ranking.rows.tolist() == [[OWL, HEN, FOX, MOUSE]] * 2


def test_documents_rank_by_their_best_chunk():
    """The fused list with every document at its first chunk."""
    # Chunks in order fox, hen, owl, mouse (k0 1): document 0 holds hen and mouse, 2 holds fox and owl, 1 is empty.
    retriever, groups = (
        built([["red hen", "grey mouse"], [], ["red red fox", "old owl"]], k0=1),
        np.array([0, 2, 2, 4]),
    )
    ranking = retriever.search(["red fox"], 3, groups)

    assert ranking.rows.tolist() == [[2, 0, -1]]
    assert ranking.scores[0, :2].tolist() == pytest.approx([0.375, 1 / 3])
    assert retriever.first_ranks(["red fox"], [np.array([0])], groups).tolist() == [2]


@given(
    documents=st.lists(st.lists(st.sampled_from(list(TEXTS)), max_size=3), min_size=1, max_size=5).filter(
        any
    ),
    weight=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    k0=st.sampled_from([0, 1, 60]),
    depth=st.integers(1, 20),
    question=st.sampled_from(["red fox", "hen", "owl owl", "zebra"]),
)
@settings(derandomize=True, max_examples=200, deadline=None)
def test_fusion_is_what_its_formula_says(documents, weight, k0, depth, question):
    """Reciprocal rank fusion against the formula worked out slowly, over the rankings of the two retrievers that it is made of."""
    chunks = chunks_of(documents)
    dense, words = DenseRetriever(), Bm25Retriever(language="none")
    expected: dict[int, float] = {}
    for retriever, say in ((dense, weight), (words, 1 - weight)):
        retriever.build(chunks, Known(), ExactIndex())
        for rank, row in enumerate(retriever.search([question], depth).rows[0].tolist(), start=1):
            if row >= 0:
                expected[row] = expected.get(row, 0.0) + say / (k0 + rank)
    order = sorted(expected, key=lambda row: (-np.float32(expected[row]), row))
    ranking = built(documents, weight=weight, k0=k0, depth=depth).search([question], len(chunks))

    assert [row for row in ranking.rows[0].tolist() if row >= 0] == order


@pytest.mark.parametrize("fusion", ["rrf", "weighted"])
def test_a_weight_of_one_or_nothing_is_one_of_the_two(fusion):
    """All the say for one list gives its order; what only the other holds follows with 0."""
    assert built(fusion=fusion, weight=1).search(["red fox"], 4).rows.tolist() == [[OWL, HEN, FOX, MOUSE]]
    ranking = built(fusion=fusion, weight=0).search(["red fox"], 2)
    assert ranking.rows[0, 0] == FOX
    assert built(weight=0).search(["red fox"], 2).rows.tolist() == [[FOX, HEN]]


def test_both_searches_are_measured():
    """Time and size are those of both indexes together."""
    retriever = built()
    measured = retriever.measurements()

    assert set(measured) == {"embed_seconds", "index_seconds", "index_mb"}
    # Four vectors of two float32 numbers weigh 32 bytes; the words come on top.
    assert measured["index_mb"] > 32e-6
    assert len(retriever.encoded().tokens) == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"fusion": "sum"}, "retriever.fusion is sum; allowed are rrf, weighted"),
        ({"weight": 1.5}, "retriever.weight is 1.5; it must be a share from 0 to 1"),
        ({"weight": "much"}, "retriever.weight is much"),
        ({"k0": -1}, "retriever.k0 is -1; it must be a number of at least 0"),
        ({"k0": float("nan")}, "retriever.k0 is nan"),
        ({"depth": 0}, "retriever.depth is 0; it must be a whole number"),
        ({"depth": 2.5}, "retriever.depth is 2.5"),
        ({"depth": True}, "retriever.depth is True"),
        ({"k1": -1}, "retriever.k1 is -1"),
        ({"language": "klingon"}, "retriever.language is klingon"),
    ],
)
def test_wrong_settings_are_named(given, said):
    """A setting that is not allowed is refused with what is, those of the search by words included."""
    with pytest.raises(SettingError, match=said) as caught:
        HybridRetriever(**given)
    assert caught.value.key == f"retriever.{next(iter(given))}"
