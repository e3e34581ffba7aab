"""A retriever with a reranker behind it: what a search, a rank and a latency then mean."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tiny_cross_encoder import make

from harness.cell.reranked import RerankedRetriever
from harness.records import Chunks, Document, Ranking
from harness.retriever import Prepared
from harness.store.reranker_scores import CachedReranker

# Rows 0-1 are document 0, row 2 is document 1, rows 3-4 document 2, row 5 document 3. The number is the reranker's score.
NUMBERS = [[1, 9], [5], [5, 7], [8]]


def corpus():
    documents = [
        Document(f"{d}", "".join(f"{n}\n" for n in some), embed_prefix="") for d, some in enumerate(NUMBERS)
    ]
    rows = [(d, 2 * i, 2 * i + 2) for d, some in enumerate(NUMBERS) for i in range(len(some))]
    doc, start, end = np.array(rows, np.int64).T
    return Chunks(documents, doc, start, end, end - start)


class Falling:
    """Every question brings all rows from the last to the first; documents likewise."""

    uses_model = False

    def prepare(self, chunks, tokens, questions, ks, metrics):
        self.chunks = chunks
        self.asked = []
        return Prepared(chunks, tokens)

    def search(self, questions, depth, groups=None):
        self.asked.append(depth)
        items = len(self.chunks) if groups is None else len(groups) - 1
        rows = np.full((len(questions), depth), -1, np.int64)
        rows[:, : min(items, depth)] = np.arange(items)[::-1][:depth]
        scores = np.where(rows < 0, -np.inf, rows).astype(np.float32)
        return Ranking(rows, scores)

    def first_ranks(self, questions, relevant, groups=None):
        items = len(self.chunks) if groups is None else len(groups) - 1
        return np.array([min((items - r for r in rows.tolist()), default=0) for rows in relevant])

    def answer(self, question, depth=10):
        return list(self.chunks.embed_texts(self.search([question], depth).rows[0]))

    def search_ms(self, questions):
        return np.full(len(questions), 2.0)


class Numbers:
    """Scores a text by the number in it."""

    def __init__(self, depth):
        self.depth = depth

    def identity(self):
        return {"name": "numbers"}

    def scores(self, question, texts):
        return np.array([int(text) for text in texts], np.float32)


def built(depth):
    reranked = RerankedRetriever(Falling(), CachedReranker(Numbers(depth), None))
    reranked.prepare(corpus(), (), {}, (), None)
    return reranked


def test_the_first_rows_are_reordered_and_the_rest_stays():
    """The retriever's order is 5 4 3 2 1 0 with the numbers 8 7 5 5 9 1. Of its first five, 1 comes first (9); 3 and 2 are equal and stay."""
    ranking = built(5).search(["q"], 8)

    assert ranking.rows.tolist() == [[1, 5, 4, 3, 2, 0, -1, -1]]
    assert ranking.scores.tolist() == [[9, 8, 7, 5, 5, 4, -np.inf, -np.inf]]


def test_few_rows_are_the_best_of_all_that_were_read():
    """Whoever asks for one row gets the best of the first five, not the retriever's first."""
    reranked = built(5)
    assert reranked.search(["q"], 1).rows.tolist() == [[1]]
    assert built(50).search(["q"], 2).rows.tolist() == [[1, 5]]  # fewer chunks than depth: all are read


def test_first_ranks_are_places_in_the_whole_reranked_ranking():
    """Within what was read the new place, below it the old one, 0 without a relevant row."""
    relevant = [np.array(some, np.int64) for some in ([0], [1], [2, 3], [0, 4], [])]
    # 1 5 4 3 2 0: row 0 is sixth, row 1 first, the better of 2 and 3 fourth, the better of 0 and 4 third.
    assert built(5).first_ranks(["q"] * 5, relevant).tolist() == [6, 1, 4, 3, 0]


def test_documents_stand_at_their_best_chunk_after_reranking():
    """With four rows read (5 4 3 2), documents 3 (8), 2 (7) and 1 (5) are seen; document 0 stays below, though its 9 is the best."""
    reranked = built(4)
    assert reranked.search(["q"], 4, corpus().doc_rows).rows.tolist() == [[3, 2, 1, 0]]
    assert built(5).search(["q"], 4, corpus().doc_rows).rows.tolist() == [[0, 3, 2, 1]]
    relevant = [np.array(some, np.int64) for some in ([0], [1, 2], [])]
    assert reranked.first_ranks(["q"] * 3, relevant, corpus().doc_rows).tolist() == [4, 2, 0]
    assert built(5).first_ranks(["q"] * 3, relevant, corpus().doc_rows).tolist() == [1, 3, 0]


def test_latency_is_that_of_both():
    """A question's milliseconds are the retriever's and the reranker's; an unknown question has none."""
    reranked = built(5)
    reranked.search(["q"], 1)
    known, unknown = reranked.search_ms(["q", "other"])
    assert known > 2
    assert np.isnan(unknown)
    assert [int(text) for text in reranked.answer("q", 6)] == [9, 8, 7, 5, 5, 1]


@pytest.mark.models
def test_a_sweep_with_a_cross_encoder(workplace, tmp_path_factory):
    """Identity, latency and seconds are on record; a second run reads the kept scores; a sweep over depth has its own cells."""
    model = make(tmp_path_factory.mktemp("cross"))
    words = ("reranker=cross_encoder", f"reranker.name={model}", "chunk=16", "tracker=none")
    plan = workplace.sweep(*words, "reranker.depth=3", "plan=true")
    assert re.search(r"pairs +reranking\n-+\n.* 15 +\d+ s\n", plan.stdout), plan.stdout + plan.stderr
    assert re.search(r"1 cell, about .* of embedding and at most \d+ s of reranking", plan.stdout)
    done = workplace.sweep(*words, "profile=true")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"seconds .*rerank", done.stdout)
    page = next(workplace.root.glob("outputs/*/*/report.html")).read_text(encoding="utf-8")
    assert re.search(r"The cells took [\d.]+ seconds \(.*rerank [\d.]+", page)
    again = workplace.sweep(*words)
    assert again.returncode == 0, again.stdout + again.stderr
    first, second = workplace.results()

    assert first["reranker"]["kind"] == "cross_encoder"
    assert first["params"]["reranker"] == "cross_encoder"
    assert len(first["reranker"]["weights"]["model.safetensors"]) == 64
    assert first["timing"]["rerank_seconds"] > 0
    assert second["timing"]["rerank_seconds"] == 0
    assert second["metrics"] == first["metrics"]
    assert second["timing"]["query_ms_p50"] > 0
    done = workplace.sweep("-m", *words, "reranker.depth=1,3", "retriever=bm25")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "depth=1" in done.stdout
    assert "depth=3" in done.stdout


def test_a_plan_says_that_the_reranker_is_missing(workplace):
    """Five questions with each of the four chunks, at most 50, are 20 pairs; without the model their time is unknown."""
    done = workplace.sweep(
        "-m", "reranker=none,cross_encoder", "retriever=bm25", "chunk=64", "plan=true", COLUMNS="400"
    )
    rows = {
        name: line
        for line in done.stdout.splitlines()
        for name in ("none", "cross_encoder")
        if line.startswith(f"bm25 · {name}")
    }

    assert done.returncode == 0, done.stderr
    assert re.search(r" 0  0 s$", rows["none"]), done.stdout
    assert " 20  The reranker 'cross-encoder/ms-marco-MiniLM-L6-v2' at revision" in rows["cross_encoder"]
    assert "about 0 s of embedding and an unknown time of reranking" in done.stdout


def test_a_missing_reranker_is_a_sentence(workplace):
    """Without a network the cell fails at once with what would help, and no traceback."""
    done = workplace.sweep("reranker=cross_encoder", "retriever=bm25", "tracker=none")
    assert done.returncode != 0
    assert "cross-encoder/ms-marco-MiniLM-L6-v2" in done.stdout + done.stderr
    assert "HF_HUB_OFFLINE" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    failure = json.loads(next(workplace.root.glob("outputs/*/*/*/failure.json")).read_text())
    assert "hf download" in failure["error"]
