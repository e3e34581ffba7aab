"""Every option in conf/retriever keeps the promises of ``harness.retriever``.

A new YAML file gets all of these tests by being there. Retrievers that bring their own chunks give what ``bm25`` found in a corpus.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.cell.settings import new
from harness.cli import compose
from harness.cli.command import Words
from harness.index.exact import ExactIndex
from harness.records import Chunks, Document, Encoded

CONF = Path(__file__).parents[1] / "conf" / "retriever"
OPTIONS = sorted(
    path.stem for path in CONF.glob("*.yaml") if "???" not in path.read_text(encoding="utf-8")
)  # what has to be named first brings chunks of its own and keeps other promises
WORDS = [f"word{i}" for i in range(40)]
QUESTIONS = ["word1 word2", "word3", "word1 word1 word39", "word7 word8 word9 word10", "nothing of this", ""]


class BagOfWords:
    """Unit vectors that count words, so that texts with common words are near."""

    def encode_documents(self, texts):
        counts = np.array([[text.split().count(word) for word in WORDS] for text in texts], np.float32)
        counts = counts.reshape(-1, len(WORDS)) + np.float32(0.01)
        lengths = np.array([len(text) for text in texts], np.int64)
        norms = np.linalg.norm(counts, axis=1, keepdims=True)
        return Encoded((counts / norms).astype(np.float32), lengths, lengths, lengths)

    encode_queries = encode_documents


def corpus():
    """Thirty documents of none to four chunks of a few words; some chunks are equal."""
    random = np.random.default_rng(7)
    documents, rows = [], []
    for d in range(30):
        texts = [
            " ".join(random.choice(WORDS[:12], random.integers(1, 5))) + "\n"
            for _ in range(random.integers(0, 5))
        ]
        documents.append(Document(f"{d:02}", "".join(texts)))
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        rows += [(d, end - len(text), end) for text, end in zip(texts, ends, strict=True)]
    doc, start, end = np.array(rows, np.int64).T
    return Chunks(documents, doc, start, end, end - start)


def built(option, chunks):
    config = compose.composed(Words((), (), ()), [f"retriever={option}"]).config
    retriever = new(config, "retriever")
    retriever.build(chunks, BagOfWords(), ExactIndex())
    return retriever


@pytest.fixture(params=OPTIONS)
def searched(request):
    """A retriever over the corpus, and the corpus."""
    chunks = corpus()
    return built(request.param, chunks), chunks


@pytest.mark.parametrize("documents", [False, True])
def test_the_order_is_total(searched, documents):
    """Scores fall, equal ones by the smaller row; no row twice; -1 and -inf behind the last; a smaller depth is a cut."""
    retriever, chunks = searched
    items = len(chunks.documents) if documents else len(chunks)
    ranking = retriever.search(QUESTIONS, items + 3, chunks.doc_rows if documents else None)

    assert ranking.rows.shape == ranking.scores.shape == (len(QUESTIONS), items + 3)
    assert (ranking.rows.dtype, ranking.scores.dtype) == (np.int64, np.float32)
    for rows, scores in zip(ranking.rows, ranking.scores, strict=True):
        found = rows[rows >= 0]
        assert (rows[len(found) :] == -1).all()
        assert (scores[len(found) :] == -np.inf).all()
        assert len(set(found.tolist())) == len(found)
        order = list(zip((-scores[: len(found)]).tolist(), found.tolist(), strict=True))
        assert order == sorted(order)
    for depth in (1, 4):
        few = retriever.search(QUESTIONS, depth, chunks.doc_rows if documents else None)
        assert np.array_equal(few.rows, ranking.rows[:, :depth])
        assert np.array_equal(few.scores, ranking.scores[:, :depth])


def test_a_document_scores_as_its_best_chunk(searched):
    """Ranked documents are the chunks' ranking with every document at its first chunk."""
    retriever, chunks = searched
    ranking = retriever.search(QUESTIONS, len(chunks))
    of_documents = retriever.search(QUESTIONS, len(chunks.documents), chunks.doc_rows)
    for rows, scores, docs, best in zip(*ranking, *of_documents, strict=True):
        expected: dict[int, float] = {}
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            if row >= 0:
                expected.setdefault(int(chunks.doc[row]), score)
        found = {doc: score for doc, score in zip(docs.tolist(), best.tolist(), strict=True) if doc >= 0}
        assert found == expected


@pytest.mark.parametrize("documents", [False, True])
def test_ranks_agree_with_the_ranking(searched, documents):
    """The rank of the best relevant row is its place in the ranking to full depth; 0 where there is none or it never comes back."""
    retriever, chunks = searched
    items = len(chunks.documents) if documents else len(chunks)
    random = np.random.default_rng(3)
    relevant = [np.sort(random.choice(items, size, replace=False)) for size in (1, 3, 7, 1, 2, 0)]
    ranking = retriever.search(QUESTIONS, items, chunks.doc_rows if documents else None)
    expected = [
        next((rank for rank, row in enumerate(rows.tolist(), start=1) if row in set(some.tolist())), 0)
        for rows, some in zip(ranking.rows, relevant, strict=True)
    ]
    # A document without chunks has no rank; nobody asks for one alone.
    assert (
        retriever.first_ranks(QUESTIONS, relevant, chunks.doc_rows if documents else None).tolist()
        == expected
    )


def test_what_is_said_of_the_model_is_so(searched):
    """Who uses a model says what it saw of every chunk; who uses none says that nobody read them."""
    retriever, chunks = searched
    encoded = retriever.encoded()

    assert retriever.uses_model == (encoded is not None)
    assert encoded is None or len(encoded.tokens) == len(chunks)
    assert {"index_seconds", "index_mb"} <= set(retriever.measurements())


@pytest.mark.parametrize("option", OPTIONS)
def test_every_number_has_a_comment(option):
    """Whoever opens the file reads what each setting does."""
    lines = (CONF / f"{option}.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert all("#" in line for line in lines if not line.startswith(("_target_", "#")))
