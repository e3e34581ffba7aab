from __future__ import annotations

import numpy as np
import pytest

from harness.errors import ModelError
from harness.store.reranker_scores import CachedReranker


class Counting:
    """Scores by length; counts what it reads."""

    depth = 3

    def __init__(self, name="a", give=None):
        self.name, self.give, self.read = name, give, []

    def identity(self):
        return {"name": self.name}

    def scores(self, question, texts):
        self.read.append((question, list(texts)))
        given = np.array([len(text) for text in texts], np.float32)
        return given if self.give is None else self.give(given)


QUESTIONS = [f"q{i}" for i in range(20)]
TEXTS = [["aa", "b", "aa"], *([f"{i}" * (i + 1)] for i in range(1, 19)), []]


def test_pairs_are_scored_once(tmp_path):
    """A second cell, and another process, read the scores and the latencies; equal texts are read once."""
    reranker = Counting()
    kept = CachedReranker(reranker, tmp_path)
    first = kept.scores(QUESTIONS, TEXTS)

    assert [some.tolist() for some in first] == [[len(t) for t in texts] for texts in TEXTS]
    assert ("q0", ["aa", "b"]) in reranker.read
    assert kept.seconds > 0
    fresh, other = Counting(), Counting(name="b")
    again = CachedReranker(fresh, tmp_path)
    assert all(map(np.array_equal, again.scores(QUESTIONS, TEXTS), first))
    assert (fresh.read, again.seconds) == ([], 0)
    assert [again.milliseconds(q) for q in QUESTIONS] == [kept.milliseconds(q) for q in QUESTIONS]
    assert np.isnan(again.milliseconds("never asked"))
    CachedReranker(other, tmp_path).scores(QUESTIONS, TEXTS)  # another model's scores are its own
    assert other.read


def test_another_text_is_read_anew(tmp_path):
    """One changed text is enough."""
    CachedReranker(Counting(), tmp_path).scores(["q"], [["a", "b"]])
    changed = Counting()
    CachedReranker(changed, tmp_path).scores(["q"], [["a", "bb"]])
    assert changed.read[-1] == ("q", ["a", "bb"])


def test_what_was_scored_before_a_stop_is_kept(tmp_path):
    """A sweep that dies on its last question has scored the first sixteen for good."""

    def refuse(given):
        if (given == 19).any():
            raise KeyboardInterrupt
        return given

    with pytest.raises(KeyboardInterrupt):
        CachedReranker(Counting(give=refuse), tmp_path).scores(QUESTIONS, [["x" * i] for i in range(1, 21)])
    second = Counting()
    CachedReranker(second, tmp_path).scores(QUESTIONS, [["x" * i] for i in range(1, 21)])
    assert {question for question, _ in second.read} == set(QUESTIONS[16:])


@pytest.mark.parametrize("give", [lambda s: s * np.nan, lambda s: s[:-1], lambda s: s[:, None]])
def test_scores_that_are_no_numbers_are_refused(give):
    """Nan or the wrong number of scores would be an order by chance."""
    with pytest.raises(ModelError, match="unusable scores for 'q'"):
        CachedReranker(Counting(give=give), None).scores(["q"], [["a", "b"]])
