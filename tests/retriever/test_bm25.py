from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SettingError
from harness.records import Chunks, Document
from harness.retriever.bm25 import Bm25Retriever


def chunks_of(documents):
    """One chunk for each text of each document, in order."""
    made, rows = [], []
    for i, texts in enumerate(documents):
        made.append(Document(f"{i:03}", "".join(texts)))
        ends = np.cumsum([len(text) for text in texts])
        rows += [(i, end - len(text), end) for text, end in zip(texts, ends.tolist(), strict=True)]
    doc, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return Chunks(made, doc, start, end, end - start)


def built(documents, **given):
    retriever = Bm25Retriever(**{"language": "none"} | given)
    retriever.build(chunks_of(documents), None, None)
    return retriever


def test_scores_are_those_of_the_formula():
    """Lucene's BM25 by hand, k1 1.5 and b 0.75."""
    # Three chunks of 2, 4 and 3 words: mean length 3.
    # "red" stands in two of three: idf = ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6.
    # "fox" stands in one of three: idf = ln(1 + (3 - 1 + 0.5) / (1 + 0.5)) = ln(8/3).
    # Chunk 0, 2 words: norm = 1.5 * (0.25 + 0.75 * 2/3) = 1.125; red once: ln 1.6 * 1 / (1 + 1.125).
    # Chunk 1, 4 words: norm = 1.5 * (0.25 + 0.75 * 4/3) = 1.875;
    # red twice: ln 1.6 * 2 / (2 + 1.875), fox once: ln(8/3) / 2.875.
    ranking = built([["red hen"], ["red red fox ran"], ["old grey owl"]]).search(["red fox", "red"], 3)

    assert ranking.rows.tolist() == [[1, 0, -1], [1, 0, -1]]
    assert ranking.scores[0, :2].tolist() == pytest.approx(
        [log(1.6) * 2 / 3.875 + log(8 / 3) / 2.875, log(1.6) / 2.125], rel=1e-6
    )
    assert ranking.scores[:, 2].tolist() == [-np.inf, -np.inf]


def test_a_word_asked_twice_counts_twice():
    """A question is a bag of words."""
    retriever = built([["red hen"], ["old owl"]])
    once, twice = retriever.search(["hen", "hen hen"], 1).scores[:, 0]

    assert twice == pytest.approx(2 * once)


def test_unknown_words_bring_nothing():
    """A question that shares no word with any chunk has an empty ranking and no rank."""
    retriever = built([["red hen"], ["old owl"]])

    for method in ("lucene", "bm25+"):
        retriever = built([["red hen"], ["old owl"]], method=method)
        assert retriever.search(["zebra", "", "?"], 2).rows.tolist() == [[-1, -1]] * 3
        assert retriever.search(["zebra hen"], 2).rows.tolist() == [[0, -1]]
        assert retriever.first_ranks(["zebra", "hen"], [np.array([0]), np.array([1])]).tolist() == [0, 0]


def test_equal_chunks_stand_in_the_order_of_their_rows():
    """Equal scores go to the smaller row, also where the depth cuts between them."""
    retriever = built([["red hen"], ["old owl"], ["hen red"], ["red hen"], ["red red hen"]])

    assert retriever.search(["hen"], 5).rows.tolist() == [[0, 2, 3, 4, -1]]
    assert retriever.search(["hen"], 2).rows.tolist() == [[0, 2]]
    assert retriever.first_ranks(["hen"] * 2, [np.array([3, 2]), np.array([4, 1])]).tolist() == [2, 4]


def test_a_document_is_its_best_chunk():
    """Documents are ranked by their best chunk before the cut; one without chunks never comes back."""
    documents = [["owl ", "hen owl old owl "], [], ["hen ", "hen hen "]]
    retriever, groups = built(documents), chunks_of(documents).doc_rows

    assert retriever.search(["hen"], 3, groups).rows.tolist() == [[2, 0, -1]]
    assert retriever.first_ranks(["hen", "hen"], [np.array([0]), np.array([1])], groups).tolist() == [2, 0]


def test_a_title_is_part_of_every_chunk():
    """What is put before a chunk for embedding is searched too."""
    document = Document("d", "owl", embed_prefix="hen ")
    retriever = Bm25Retriever()
    one = np.array([3])
    retriever.build(Chunks([document], np.array([0]), np.array([0]), one, one), None, None)

    assert retriever.search(["hen"], 1).rows.tolist() == [[0]]


def test_nothing_to_search():
    """A corpus without chunks, and one without words, are searched in vain and break nothing."""
    for documents in ([], [[]], [["?! "], ["..."]]):
        retriever = built(documents)
        assert retriever.search(["hen"], 2).rows.tolist() == [[-1, -1]]
        assert retriever.measurements()["index_mb"] < 0.001
        assert retriever.encoded() is None


WORDS = st.lists(st.sampled_from(["ant", "bee", "cat", "dog", "eel"]), max_size=6).map(" ".join)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    documents=st.lists(st.lists(WORDS.map(lambda text: text + ". "), max_size=4), min_size=1, max_size=6),
    questions=st.lists(WORDS, min_size=1, max_size=3),
    k1=st.floats(0, 3),
    b=st.floats(0, 1),
)
def test_agrees_with_the_formula_everywhere(documents, questions, k1, b):
    """Rows, scores and ranks are those of the formula written out, over every chunk."""
    texts = [text for texts in documents for text in texts]
    bags = [text.replace(".", "").split() for text in texts]
    mean = sum(map(len, bags)) / max(len(bags), 1)
    retriever = built(documents, k1=k1, b=b)
    for question in questions:
        expected = []
        for bag in bags:
            score = 0.0
            for word in question.split():
                df = sum(word in other for other in bags)
                if word in bag:
                    idf = log(1 + (len(bags) - df + 0.5) / (df + 0.5))
                    score += idf * bag.count(word) / (bag.count(word) + k1 * (1 - b + b * len(bag) / mean))
            expected.append(score)
        ranking = retriever.search([question], len(texts) + 1)
        found = [row for row in ranking.rows[0].tolist() if row >= 0]
        assert sorted(found) == [row for row, score in enumerate(expected) if score > 0]
        assert ranking.scores[0, : len(found)].tolist() == pytest.approx(
            [expected[row] for row in found], rel=1e-5
        )
        for rank, row in enumerate(found, start=1):
            assert retriever.first_ranks([question], [np.array([row])]).tolist() == [rank]


@pytest.mark.parametrize(
    "given",
    [{"k1": -1}, {"k1": "a"}, {"k1": float("nan")}, {"b": 1.1}, {"b": True}, {"method": "okapi"}],
    ids=str,
)
def test_wrong_settings_are_refused(given):
    """Each wrong value is named with what is allowed."""
    (key,) = given
    with pytest.raises(SettingError, match=rf"retriever\.{key} is ") as caught:
        Bm25Retriever(**given)

    assert caught.value.key == f"retriever.{key}"


@pytest.mark.models
def test_no_model_is_needed(workplace):
    """A cell of bm25 runs where its model can't be had, and is searched once for all models."""
    done = workplace.sweep("retriever=bm25", "model=bge", "tracker=none")
    again = workplace.sweep("retriever=bm25", "model=wordllama", "tracker=none")
    plan = workplace.sweep("retriever=bm25", "model=bge", "plan=true")

    assert done.returncode == again.returncode == plan.returncode == 0, done.stdout + done.stderr
    one, other = workplace.results()
    assert one["metrics"] == other["metrics"]
    assert one["metrics"]["hit_at_1"] >= 0.6
    assert one["model"] == {}
    assert one["timing"]["texts_embedded"] == 0
    assert other["timing"]["index_seconds"] == 0
    assert "no model" in plan.stdout


def test_what_cannot_be_searched_is_counted_with_an_example():
    """Questions without a word, texts in another script than the language's, and documents full of names."""
    texts = ["getUser setUser delUser", "user_id user_name a_b", "Как вернуть товар"]
    documents = [Document(str(i), text) for i, text in enumerate(texts)]
    none = np.zeros(0, np.int64)
    chunks = Chunks(documents, none, none, none, none)
    asked = ["2.1.0?", "Where is it sold?", "Как вернуть товар?", "C++"]

    assert Bm25Retriever().problems(chunks, asked) == {
        "wordless_questions": (2, "2.1.0?"),
        "other_script_questions": (1, "Cyrillic"),
        "other_script_documents": (1, "Cyrillic"),
        "named_documents": (2, "getUser setUser delUser"),
    }
    assert set(Bm25Retriever("russian", identifiers="split").problems(chunks, asked[2:3])) == {
        "other_script_documents"
    }
    assert Bm25Retriever("none", identifiers="split").problems(chunks, asked) == {}
