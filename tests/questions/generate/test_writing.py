"""The golden file as it grows: the same lines in the same order, whatever came back when."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

import pytest
from generation_setup import PROMPT, good, passages, put, retry_state
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.files.journal import Journal
from harness.golden.question_json import draft_of
from harness.questions.generate.writing import Settled, Writing

ALL = passages()
LAST = ALL[-1].passage_id


def writing(folder, n, **kind):
    talk = retry_state(folder / "golden.ledger.jsonl")
    return Writing(Journal(folder / "golden.jsonl"), ALL, talk, n, {"model": "m", **kind})


def answer(made, waiting, rejected):
    """Puts the answer to one passage into the ledger and settles it."""
    is_bad = waiting.number in rejected
    put(made.retries.ledger, waiting.request, {"answerable": False} if is_bad else good(waiting.passage))
    step = made.retries.step(waiting.passage)
    assert isinstance(step, Settled)
    made.settle(waiting.number, step)


def finish(made, chance, rejected, most=10**9):
    """Answers everything that is asked, in any order; stops after ``most`` answers, as a kill would."""
    open_ones = list(made.begin())
    while open_ones and most:
        answer(made, open_ones.pop(chance.randrange(len(open_ones))), rejected)
        open_ones += made.begin()
        most -= 1


@settings(derandomize=True, max_examples=20, deadline=None)
@given(
    st.integers(1, 6),
    st.sets(st.integers(0, 5)),
    st.randoms(use_true_random=False),
    st.lists(st.integers(0, 3), max_size=4),
)
def test_order_and_kills_never_show_in_the_set(n, rejected, chance, kills):
    """Answers in any order, runs that end at any answer: the file is byte for byte that of one quiet run."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        quiet = writing(Path(one), n)
        for number in range(6):
            for waiting in list(quiet.begin()):
                answer(quiet, waiting, rejected)
            assert number < 6
        for most in kills:
            finish(writing(Path(other), n), chance, rejected, most)
        finish(writing(Path(other), n), chance, rejected)

        lines = (Path(one) / "golden.jsonl").read_bytes() if (Path(one) / "golden.jsonl").exists() else b""
        again = (
            (Path(other) / "golden.jsonl").read_bytes() if (Path(other) / "golden.jsonl").exists() else b""
        )
        assert again == lines
        assert len(lines.splitlines()) == min(n, 6 - len(rejected))


def test_no_more_is_asked_than_could_be_needed(tmp_path):
    """Three questions ask about three passages; a fourth only when one gave none."""
    made = writing(tmp_path, 3)
    first = list(made.begin())
    assert [w.number for w in first] == [0, 1, 2]
    assert list(made.begin()) == []

    answer(made, first[1], {1})
    assert [w.number for w in made.begin()] == [3]
    assert made.rejected == {"not_answerable": 1}


def test_a_line_waits_for_earlier_passages(tmp_path):
    """A question is written once all before it are settled; until then the ledger keeps it."""
    made = writing(tmp_path, 3)
    first = list(made.begin())
    answer(made, first[2], set())
    assert not made.golden.path.exists()
    answer(made, first[0], set())
    assert len(made.golden.items()) == 1
    answer(made, first[1], set())

    assert [line["question_id"] for line in made.golden.items()] == [made._id(p) for p in ALL[:3]]


def test_asking_for_more_adds_and_never_rewrites(tmp_path):
    """The first lines of the larger set are the bytes of the smaller one, edited by hand or not."""
    chance = random.Random(1)
    finish(writing(tmp_path, 2), chance, set())
    path = tmp_path / "golden.jsonl"
    edited = path.read_text().replace("When do I get", "When will I get")
    path.write_text(edited)
    made = writing(tmp_path, 5)
    finish(made, chance, {2})

    assert path.read_text().startswith(edited)
    assert (made.already, made.written, made.questions) == (2, 3, 5)
    assert len({line["question_id"] for line in made.golden.items()}) == 5


def test_other_lines_are_kept_and_no_id_collides(tmp_path):
    """Questions added by hand, or written by another prompt, stay; the new ones come after them."""
    path = tmp_path / "golden.jsonl"
    own = '{"query": "mine", "relevant_doc_ids": ["rules.md"]}\n'
    path.write_text(own)
    finish(writing(tmp_path, 2), random.Random(1), set())
    other = writing(tmp_path, 2)
    other.retries.prompt.__dict__["digest"] = "another prompt"
    try:
        finish(other, random.Random(1), set())
    finally:
        del PROMPT.__dict__["digest"]

    lines = path.read_text().splitlines()
    assert lines[0] + "\n" == own
    assert len({json.loads(line).get("question_id") for line in lines}) == 5


def test_every_line_is_one_that_the_sweep_reads(tmp_path):
    """A written line goes through the golden set's own parser, with source and provenance."""
    made = writing(tmp_path, 2, seed=4)
    finish(made, random.Random(1), set())
    draft = draft_of(1, made.golden.items()[0])

    assert draft.source == "synthetic"
    assert draft.provenance == {
        "model": "m",
        "seed": 4,
        "passage": ALL[0].passage_id[:16],
        "calls": 1,
        "overlap": pytest.approx(0, abs=0.5),
    }
    assert draft.evidence[0].quote in ALL[0].excerpts[0].text


def test_too_few_passages_are_no_error(tmp_path):
    """Six passages give six questions, however many are asked for."""
    made = writing(tmp_path, 50)
    finish(made, random.Random(1), {0})

    assert made.is_exhausted
    assert made.questions == 5
