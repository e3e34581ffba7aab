"""What was ranked once is read back: no embedding, no search, and never a ranking of something else."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from harness.records import Chunks, Document, Encoded, Ranking
from harness.store.rankings import CachedRetriever

QUESTIONS = ["first", "second"]


class Counting:
    """A retriever whose ranking of ten rows is a fixed rotation for each question; it counts its work."""

    uses_model = True

    def __init__(self):
        self.builds = self.searches = self.rank_calls = 0

    def build(self, chunks, model, index):
        self.builds += 1

    def search(self, questions, depth, groups=None):
        self.searches += 1
        rows = np.array([np.roll(np.arange(10), len(question))[:depth] for question in questions])
        return Ranking(rows, -np.arange(depth, dtype=np.float32) * np.ones((len(questions), 1), np.float32))

    def first_ranks(self, questions, relevant, groups=None):
        self.rank_calls += 1
        return np.array([int(rows[0]) + 1 if len(rows) else 0 for rows in relevant])

    def encoded(self):
        seen = np.arange(10)
        return Encoded(np.zeros((10, 0), np.float32), seen, seen, seen)

    def measurements(self):
        return {"embed_seconds": 3.0, "index_seconds": 1.0, "index_mb": 7.0}


class Model:
    """Only its identity matters here."""

    def __init__(self, name="model"):
        self.name = name

    def identity(self):
        return {"name": self.name}


def chunks(size=4):
    """Ten chunks of ``size`` characters."""
    starts = np.arange(10) * size
    return Chunks(
        [Document("d", "x" * 10 * size)], np.zeros(10, np.int64), starts, starts + size, np.ones(10, np.int64)
    )


def opened(folder, counting, model=None, cut=None, settings=None, corpus="c"):
    kept = CachedRetriever(counting, model or Model(), None, folder, settings or {"retriever": "r"}, corpus)
    kept.prepare(cut or chunks(), (), {}, (), None)
    return kept


def everything(kept, depth=5):
    """All that a cell asks of a retriever."""
    relevant = [np.array([3]), np.array([], int)]
    return (
        kept.search(QUESTIONS, depth).rows.tolist(),
        kept.search(QUESTIONS, depth).scores.tolist(),
        kept.first_ranks(QUESTIONS, relevant).tolist(),
        kept.encoded().tokens.tolist(),
        kept.measurements()["index_mb"],
        len(kept.search_ms(QUESTIONS)),
    )


def test_the_second_time_nothing_is_built(tmp_path):
    """A later process gets the same answers without building, searching or ranking, and claims no seconds."""
    first, second = Counting(), Counting()
    once = everything(opened(tmp_path, first))
    kept = opened(tmp_path, second)

    assert everything(kept) == once
    assert (second.builds, second.searches, second.rank_calls) == (0, 0, 0)
    assert kept.measurements() == {"embed_seconds": 0.0, "index_seconds": 0.0, "index_mb": 7.0}


def test_a_shallower_ranking_is_a_cut_and_a_deeper_one_is_searched(tmp_path):
    """A depth up to the kept one costs nothing; beyond it there is one search, which is then kept."""
    opened(tmp_path, Counting()).search(QUESTIONS, 5)
    later = Counting()
    kept = opened(tmp_path, later)

    assert kept.search(QUESTIONS, 2).rows.tolist() == [
        [5, 6],
        [4, 5],
    ]  # rolled by the question's length, 5 and 6
    assert later.searches == 0
    assert kept.search(QUESTIONS, 8).rows.shape == (2, 8)
    assert kept.search(QUESTIONS, 7).rows.shape == (2, 7)
    assert later.searches == 1


@pytest.mark.parametrize(
    "other",
    [
        {"model": Model("another")},
        {"cut": chunks(size=5)},
        {"settings": {"retriever": "another"}},
        {"corpus": "another"},
    ],
    ids=["model", "chunks", "settings", "corpus"],
)
def test_what_changes_a_ranking_changes_the_key(tmp_path, other):
    """Another model, chunking, retriever or text never gets an old ranking."""
    opened(tmp_path, Counting()).search(QUESTIONS, 5)
    later = Counting()
    opened(tmp_path, later, **other).search(QUESTIONS, 5)

    assert later.searches == 1


def test_other_questions_and_documents_are_other_rankings(tmp_path):
    """The questions, their order, and what is ranked as one belong to the key: nothing, documents, or larger parts of them."""
    counting = Counting()
    kept = opened(tmp_path, counting)
    kept.search(QUESTIONS, 5)
    kept.search(QUESTIONS[::-1], 5)
    for groups in ([0, 10], [0, 5, 10], [0, 6, 10], [0, 5, 10]):
        kept.search(QUESTIONS, 5, np.array(groups))

    assert counting.searches == 5


def test_a_damaged_file_is_computed_again_and_said(tmp_path, caplog):
    """A flipped byte is found by the checksum; the ranking is searched again, and a warning names the file."""
    once = opened(tmp_path, Counting()).search(QUESTIONS, 5)
    (file,) = tmp_path.rglob("ranking-*.npz")
    data = bytearray(file.read_bytes())
    data[data.index(once.scores.tobytes()) + 3] ^= 0xFF
    file.write_bytes(data)
    later = Counting()
    with caplog.at_level(logging.WARNING):
        again = opened(tmp_path, later).search(QUESTIONS, 5)

    assert again.rows.tolist() == once.rows.tolist()
    assert later.searches == 1
    assert file.name in caplog.text
