"""In the simplest setting the program gives what a dozen lines of numpy give."""

from __future__ import annotations

import json

import numpy as np
import pytest

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cli import compose
from harness.cli.command import take_apart

CHUNKS = [
    "Green tea is steeped for two minutes in water of 75 degrees.",
    "Black tea takes four minutes in boiling water.",
    "Use 60 grams of ground coffee for each litre of water.",
    "An espresso runs through in 25 to 30 seconds.",
    "Cocoa is whisked into a little cold milk first.",
]
QUESTIONS = [
    ("How hot should the water for green tea be?", [0]),
    ("How long does black tea take?", [1]),
    ("How much coffee do I need for a litre?", [2]),
    ("hot drinks and water", [0, 1]),
    ("seconds", [3]),
    ("milk", [0]),
]


@pytest.fixture
def cell(tmp_path):
    """The cell's parts: five chunks given as a list, labels given as positions in it."""
    (tmp_path / "chunks.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in CHUNKS))
    lines = [json.dumps({"question": question, "gold_id": gold}) + "\n" for question, gold in QUESTIONS]
    (tmp_path / "golden.jsonl").write_text("".join(lines))
    words = take_apart(
        [
            "corpus=jsonl",
            f"corpus.path={tmp_path}/chunks.jsonl",
            f"golden.path={tmp_path}/golden.jsonl",
            f"cache={tmp_path}/cache",
            "chunker=whole",
            "model=wordllama",
            "k=1,3",
        ]
    )
    return Shared().components(compose.composed(words, words.overrides).config)


def test_equals_a_dozen_lines_of_numpy(cell):
    """Argsort of the products, then precision = hits / k, recall = hits / relevant, reciprocal rank of the first hit."""
    metrics = pipeline.evaluate(cell, [1, 3], "recall_at_3").metrics()

    documents = cell.model.encode_documents(CHUNKS).vectors
    queries = cell.model.encode_queries([question for question, _ in QUESTIONS]).vectors
    order = np.argsort(-(queries @ documents.T), axis=1, kind="stable")
    hits = np.array([[row in gold for row in rows] for rows, (_, gold) in zip(order, QUESTIONS, strict=True)])
    relevant = np.array([len(gold) for _, gold in QUESTIONS])
    for k in (1, 3):
        assert metrics[f"precision_at_{k}"] == pytest.approx((hits[:, :k].sum(1) / k).mean())
        assert metrics[f"recall_at_{k}"] == pytest.approx((hits[:, :k].sum(1) / relevant).mean())
        assert metrics[f"hit_at_{k}"] == pytest.approx(hits[:, :k].any(1).mean())
    assert metrics["mrr"] == pytest.approx((1 / (1 + hits.argmax(1))).mean())


def test_one_gold_span_per_question_makes_recall_the_hit_rate(tmp_path):
    """With spans that are whole chunks, recall_at_k is exactly hit@k, and the rank of the gold chunk gives MRR."""
    (tmp_path / "page.md").write_text("\n".join(CHUNKS))
    (tmp_path / "chunks.json").write_text(json.dumps(CHUNKS))
    asked = [(question, gold[0]) for question, gold in QUESTIONS if len(gold) == 1]
    lines = [json.dumps({"question": question, "gold_id": gold}) + "\n" for question, gold in asked]
    (tmp_path / "golden.jsonl").write_text("".join(lines))
    words = take_apart(
        [
            "corpus=folder",
            f"corpus.path={tmp_path}",
            "corpus.pattern=*.md",
            f"golden.chunks={tmp_path}/chunks.json",
            f"cache={tmp_path}/cache",
            "chunker.separators=['\n','']",
            "chunk=16",
            "model=wordllama",
            "k=1,3",
        ]
    )
    cell = Shared().components(compose.composed(words, words.overrides).config)

    assert [cell.chunks.text(row).strip() for row in range(len(cell.chunks))] == CHUNKS

    metrics = pipeline.evaluate(cell, [1, 3], "recall_at_3").metrics()
    documents = cell.model.encode_documents([cell.chunks.text(row) for row in range(5)]).vectors
    queries = cell.model.encode_queries([question for question, _ in asked]).vectors
    order = np.argsort(-(queries @ documents.T), axis=1, kind="stable")
    ranks = np.array([list(rows).index(gold) + 1 for rows, (_, gold) in zip(order, asked, strict=True)])
    for k in (1, 3):
        assert metrics[f"recall_at_{k}"] == pytest.approx((ranks <= k).mean())
        assert metrics[f"hit_at_{k}"] == metrics[f"recall_at_{k}"]
    assert metrics["mrr"] == pytest.approx((1 / ranks).mean())
