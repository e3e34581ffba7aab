"""Encoding one question is timed when the model is in memory, and otherwise taken from the last time it was."""

from __future__ import annotations

import numpy as np

from harness.cell.timing import encode_ms
from harness.records import Encoded
from harness.store.embedding_store import EmbeddingStore
from harness.store.embeddings import CachedModel


class Counting:
    """A model of two dimensions that counts how often it is asked."""

    name = "counting"

    def __init__(self):
        self.calls = 0

    def identity(self):
        return {"name": "counting", "dim": 2, "query_prompt": "", "document_prompt": ""}

    def place(self):
        return "folder"

    def whole(self):
        return self

    def cut(self, encoded):
        return encoded

    def check(self, encoded, texts):
        pass

    def encode_documents(self, texts):
        return self.encode_queries(texts)

    def encode_queries(self, texts):
        self.calls += 1
        n = np.full(len(texts), 1)
        return Encoded(np.tile(np.array([[1.0, 0.0]], np.float32), (len(texts), 1)), n, n.copy(), n.copy())


def test_a_cached_cell_does_not_load_the_model_to_time_it(tmp_path):
    """One call to warm up and one per question; a later process that embeds nothing makes none and says the same."""
    questions = ["a", "b", "c"]
    first = Counting()
    model = CachedModel(first, EmbeddingStore(tmp_path))
    model.encode_queries(questions)
    measured = encode_ms(model, questions)

    assert first.calls == 1 + 1 + 3
    assert measured.shape == (3,)
    assert (measured > 0).all()

    second = Counting()
    again = encode_ms(CachedModel(second, EmbeddingStore(tmp_path)), questions[:2])

    assert second.calls == 0
    assert again.tolist() == measured[:2].tolist()


def test_more_questions_than_were_timed_are_timed_anew(tmp_path):
    """What was kept for two questions does not stand for four."""
    encoder = Counting()
    model = CachedModel(encoder, EmbeddingStore(tmp_path))
    encode_ms(model, ["a", "b"])

    assert len(encode_ms(model, ["a", "b", "c", "d"])) == 4
