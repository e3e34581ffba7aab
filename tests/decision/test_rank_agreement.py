"""Whether what runs is what was picked: the live retriever against the recorded configuration."""

from __future__ import annotations

import json

import numpy as np
import own_retrievers
import pytest
from workplace import Workplace, write_corpus, write_golden

from harness.cell.pipeline import Result
from harness.decision.rank_agreement import parity
from harness.metrics import Scores
from harness.metrics.operating_point import OperatingPoint
from harness.records import Chunks, Document, Evidence, Question, Ranking

CODE = """
import json
from pathlib import Path

def answers():
    return json.loads(Path("answers.json").read_text())

def same(query, top_k):
    return [{"text": " " + row["text"].strip() + "\\n"} for row in answers()[query][:top_k]]

def reversed_(query, top_k):
    return answers()[query][:top_k][::-1]
"""


@pytest.fixture(scope="module")
def picked(tmp_path_factory):
    """Four pages and five questions with a picked configuration, and its answers as a live retriever would give them."""
    root = tmp_path_factory.mktemp("verify")
    place = Workplace(root, root / "documents", root / "golden.jsonl")
    write_corpus(place.documents)
    write_golden(place.golden)
    done = place.sweep("model=wordllama", "chunk=16", "k=1,3", "primary_k=3", "tracker=none")
    assert done.returncode == 0, done.stderr
    (sweep,) = root.glob("outputs/*/*")
    done = place.run(f"sweep={sweep}", "pick.measure=false", "pick.register=null", module="harness.pick")
    assert done.returncode == 0, done.stdout + done.stderr
    own_retrievers.write_answers(root / "answers.json", own_retrievers.answers_of(place))
    (root / "live.py").write_text(CODE)
    return place


def verify(place, *words):
    return place.run("production.yaml", *words, module="harness.verify")


@pytest.mark.models
def test_the_same_answers_are_in_parity(picked):
    """Over HTTP, and as a function that gives texts alone with other white space around them: exit code 0."""
    with own_retrievers.served(picked.root / "answers.json") as url:
        over_http = verify(picked, f"url={url}")
    function = verify(
        picked, "retriever=callable", "retriever.target=live:same", "retriever.depth=10", "output=same.json"
    )

    for done in (over_http, function):
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.startswith(
            "In parity: 5 of 5 questions (100.0%) get the same 3 rows in the same order."
        )
        assert "+0.0 points" in done.stdout
        assert "Rows differ most" not in done.stdout
    written = json.loads((picked.root / "same.json").read_text())
    assert (written["outcome"], written["exit_code"], written["in_order"]) == ("in parity", 0, 1.0)


@pytest.mark.models
def test_other_answers_are_not(picked):
    """Exit code 1, with the shares, the metrics and the questions that differ most."""
    done = verify(picked, "target=live:reversed_", "output=other.md")
    written = (picked.root / "other.md").read_text()

    assert written.startswith("### Retrieval parity: Not in parity: ")
    assert "| question id | recorded | live | shared | rows |" in written
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.startswith("Not in parity: ")
    assert "Rows differ most (" in done.stdout
    asked = json.loads(picked.golden.read_text().splitlines()[0])
    shown = " ".join(done.stdout.split())
    assert asked["question"] in shown
    assert all(f" {label} " in shown for label in ("evidence", "recorded", "live"))
    assert "recall@3" in done.stdout
    assert verify(picked, "target=live:reversed_", "verify.min_equal=0").returncode == 0


@pytest.mark.models
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 4, "No live retriever was given."),
        (("retriever=bm25",), 4, "is not a live retriever"),
        (("target=live:none",), 4, "has no attribute 'none'"),
        (("url=http://127.0.0.1:9/", "retriever.backoff=0"), 4, "answered no question (5 asked)"),
        (("target=live:same", "verify.k=2"), 4, "verify.k is 2; it must be one of k (1, 3)"),
        (("target=live:same", "verify.margin=5"), 4, "verify.margin is 5; it must be a share"),
        (("target=live:same", "golden.path=other.jsonl"), 5, "4 of the 5 recorded questions"),
    ],
    ids=str,
)
def test_what_can_not_be_compared_says_why(picked, words, code, said):
    """A sentence, 4 for a mistake and 5 for questions that are gone, on the screen and in the file."""
    first = json.loads(picked.golden.read_text().splitlines()[0])
    (picked.root / "other.jsonl").write_text(json.dumps(first))
    done = verify(picked, *words, "output=outcome.json")
    written = json.loads((picked.root / "outcome.json").read_text())

    assert (done.returncode, written["exit_code"]) == (code, code), done.stdout + done.stderr
    assert said in " ".join(written["sentences"][0].split())
    assert said in " ".join((done.stdout + done.stderr).split())


def result(rows, values):
    """A result of four questions over two documents of four letters each, a chunk a letter, with these rows and a metric."""
    documents = [Document("a", "ab d"), Document("b", "wxyz")]
    place = np.arange(8, dtype=np.int64)
    chunks = Chunks(documents, place // 4, place % 4, place % 4 + 1, np.ones(8, np.int64))
    questions = [Question(f"q{i}", f"q{i}", (Evidence("a", 0, 1),)) for i in range(4)]
    ranking = Ranking(np.array(rows), np.zeros((4, 3), np.float32))
    ids = tuple(question.question_id for question in questions)
    scores = Scores(
        "span", ids, {"recall_at_2": np.array(values, float)}, frozenset(), ("found",) * 4, np.ones(4)
    )
    return Result({"span": questions}, {"span": ranking}, {"span": scores}, chunks, {}, {})


def test_what_is_the_same_by_hand():
    """Order, sets and documents of the first k rows; the question that lost most comes first."""
    # q0: the same. q1: the two rows in the other order, one document. q2: one of two rows, one document changed. q3: nothing came back live.
    recorded = result([[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]], [1, 1, 1, 1])
    live = result([[0, 1, 7], [1, 0, 2], [0, 4, 5], [-1, -1, -1]], [1, 1, 0.5, 0])
    found = parity(
        recorded, live, "recall_at_2", OperatingPoint(k=2), {f"q{i}": f"c{i}" for i in range(4)}, 0.03
    )

    assert [found.share(name) for name in ("in_order", "as_sets", "documents")] == [0.25, 0.5, 0.5]
    assert found.share("shared") == (1 + 1 + 0.5 + 0) / 4
    assert [(d.question_id, d.live, d.shared) for d in found.differing] == [
        ("q3", 0, 0),
        ("q2", 0.5, 1),
        ("q1", 1, 2),
    ]
    assert found.metrics["recall_at_2"][:2] == (1.0, 0.625)
    assert found.change.outcome == "undecided"  # four clusters carry no interval
