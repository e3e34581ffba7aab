from __future__ import annotations

import numpy as np
import pytest
from hydra.utils import instantiate
from omegaconf import OmegaConf
from scored import score_all

from harness.errors import SettingError
from harness.metrics.diagnosis import CAUSES
from harness.paths import conf_folder
from harness.records import Document, Evidence, Question
from harness.retriever.external.answers import ask_all
from harness.retriever.external.asking import MOST_ROWS, ExternalRetriever
from harness.retriever.external.returned import NOWHERE, uncut
from harness.text.tokenizer import load_tokenizer

DOCUMENTS = [Document("a", "one two three four"), Document("b", "five six seven eight nine")]


class Told:
    """Gives the rows of each question; keeps how it was asked."""

    uses_chunks = False
    name = "told"

    def __init__(self, answers, depth=None):
        self.answers, self.depth, self.asked = answers, depth, []

    def ask(self, questions, top_k):
        self.asked.append((list(questions), top_k))
        return ask_all(lambda some, rows: self.answers(some[0], rows), questions, 1, top_k)


def prepared(answers, questions, ks=(1, 2), depth=None, documents=DOCUMENTS):
    """The retriever after it brought its chunks, what came, and how it was asked."""
    tokenizer = load_tokenizer("bert")
    maps = tokenizer.map([document.text for document in documents])
    kinds = {}
    for question in questions:
        kinds.setdefault(question.kind, []).append(question)
    told = Told(answers if callable(answers) else lambda question, _: answers[question], depth)
    external = ExternalRetriever(told, tokenizer)
    settings = OmegaConf.load(conf_folder() / "metrics" / "default.yaml")
    settings.context_budget = None  # refers to the whole configuration
    metrics = instantiate(settings)
    return external, external.prepare(uncut(documents), maps, kinds, ks, metrics), told, metrics


def about(text, *, whole=False):
    """A question about the first word of document a, or about all of it."""
    return Question(f"id-{text}", text, (Evidence("a") if whole else Evidence("a", 0, 3),))


def test_distinct_spans_become_the_chunks_in_the_total_order():
    """Rows of all questions, each span once, by document and start; tokens are those of the text."""
    rows = {"x": [{"id": "b"}, {"id": "a", "start": 4, "end": 13}], "y": [{"id": "a:0-3"}, {"id": "b"}]}
    external, found, _, _ = prepared(rows, [about("x"), about("y")])
    chunks = found.chunks

    assert [chunks.text(row) for row in range(len(chunks))] == ["one", "two three", DOCUMENTS[1].text]
    assert chunks.tokens.tolist() == [1, 2, 5]
    assert not chunks.complete
    assert external.search(["y", "x"], 3).rows.tolist() == [[0, 2, -1], [2, 1, -1]]


def test_what_is_nowhere_keeps_its_rank_and_its_tokens():
    """A row in no document stands where it stood, is not relevant, and what it says is counted as read."""
    rows = [{"id": "zzz", "text": "ten eleven twelve"}, 7, {"id": "a:0-3"}, {"id": "b:0-4"}]
    external, found, _, metrics = prepared({"x": rows}, [about("x")])
    scores = score_all(metrics, "span", [about("x")], external.search(["x"], 3), found.chunks, found.tokens, [1, 2, 3],
        lambda relevant: external.first_ranks(["x"], relevant), None, "recall_at_2",
    )  # fmt: skip

    assert scores.values["context_tokens_at_1"].tolist() == [3]
    assert scores.values["context_tokens_at_3"].tolist() == [4]
    assert scores.values["recall_at_2"].tolist() == [0]
    assert scores.values["mrr"].tolist() == pytest.approx([1 / 3])
    assert scores.values["recall_at_3"].tolist() == [1]
    assert np.isnan(scores.values["precision_omega"]).all()
    assert [document.doc_id for document in found.chunks.documents] == [
        "a",
        "b",
        f"{NOWHERE} 1",
        f"{NOWHERE} 2",
    ]
    assert found.problems["unmapped_rows"] == 2
    assert found.examples["unmapped_rows"].startswith("id-x, row 1, id 'zzz': no document has this id")
    assert found.examples["malformed_rows"] == "id-x, row 2: an int without an id or a text"


@pytest.mark.parametrize(
    "repeat",
    [
        {"id": "b"},
        {"id": "b", "start": 0, "end": 25, "score": 0.1},
        {"id": "b:0-25"},
        {"id": "chunk-9", "text": "five  six seven eight nine"},
        "five six seven eight nine",
        ("b", 0.5),
    ],
    ids=str,
)
def test_repeats_are_removed_before_the_depth_is_cut(repeat):
    """Two rows of b, then the evidence in a: scored as [b, a].

    By hand: recall@1 0/1, recall@2 and recall@3 1/1; mrr 1/2; precision@3 1 relevant of 3; 5 tokens of b, 1 of a.
    """
    rows = [{"id": "b"}, repeat, {"id": "a:0-3"}]
    external, found, _, metrics = prepared({"x": rows}, [about("x")], ks=(1, 2, 3))
    ranking = external.search(["x"], 2)
    scores = score_all(metrics, "span", [about("x")], ranking, found.chunks, found.tokens, [1, 2, 3],
        lambda relevant: external.first_ranks(["x"], relevant), None, "recall_at_2",
    )  # fmt: skip

    assert ranking.rows.tolist() == [[1, 0]]
    assert [scores.values[f"recall_at_{k}"].tolist() for k in (1, 2, 3)] == [[0], [1], [1]]
    assert scores.values["mrr"].tolist() == [0.5]
    assert scores.values["precision_at_3"].tolist() == pytest.approx([1 / 3])
    assert scores.values["context_tokens_at_3"].tolist() == [6]
    assert (found.problems["rows"], found.problems["duplicate_rows"]) == (3, 1)


def test_equal_texts_in_no_document_are_repeats_too():
    """An index that was filled twice returns every chunk twice, under two ids."""
    rows = [{"id": "1", "text": "gone"}, {"id": "2", "text": "gone"}, {"id": "a:0-3"}, {"id": "b"}]
    external, found, _, _ = prepared({"x": rows}, [about("x")])

    assert external.search(["x"], 4).rows.tolist() == [[2, 0, 1, -1]]
    assert found.problems["duplicate_rows"] == 1


def test_repeats_make_room_for_deeper_rows():
    """With 120 rows of which 119 are one, the second distinct row is asked for."""
    rows = [{"id": "b"}] * 119 + [{"id": "a:0-3"}]
    external, _, told, _ = prepared(lambda _, k: rows[:k], [about("x")])

    assert [k for _, k in told.asked] == [100, 200]
    assert external.search(["x"], 2).rows.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([0.9, 0.5, 0.5], [0.9, 0.5, 0.5]),
        ([0.5, 0.9, 0.1], [-1, -2, -3]),
        ([0.9, float("nan"), 0.1], [-1, -2, -3]),
        ([0.9, None, 0.1], [-1, -2, -3]),
        (["0.9", 0.5, 0.1], [-1, -2, -3]),
        ([float("inf"), 0.5, 0.1], [-1, -2, -3]),
    ],
    ids=str,
)
def test_the_order_is_theirs_whatever_the_scores(given, expected):
    """Scores that do not fit the order, or are none, are replaced and move nothing."""
    rows = [{"id": f"a:{i}-{i + 3}", "score": score} for i, score in enumerate(given)]
    external, found, _, _ = prepared({"x": rows}, [about("x")])
    ranking = external.search(["x"], 4)

    assert ranking.rows.tolist() == [[0, 1, 2, -1]]
    assert ranking.scores[0, :3].tolist() == pytest.approx(expected)
    bad = sum(score is not None and not (isinstance(score, float) and np.isfinite(score)) for score in given)
    assert found.problems["bad_scores"] == bad


def test_documents_are_ranked_by_their_first_row():
    """For questions about whole documents the id is enough, even where the text stands nowhere."""
    rows = [{"id": "b", "text": "not in b"}, {"id": "b:0-4"}, {"id": "a:4-7"}]
    external, found, _, _ = prepared({"x": rows}, [about("x", whole=True)])

    assert external.search(["x"], 3, found.chunks.doc_rows).rows.tolist() == [[1, 0, -1]]
    assert external.first_ranks(["x"], [np.array([0])], found.chunks.doc_rows).tolist() == [2]
    assert found.problems["unmapped_rows"] == 0


def test_one_question_that_fails_costs_no_other():
    """It has no rows, is named with its error, and the rest is scored."""

    def answers(question, _):
        if question == "x":
            raise ValueError("a bug\nof theirs")
        return [{"id": "a"}]

    external, found, _, _ = prepared(answers, [about("x"), about("y")], ks=(1,))

    assert external.search(["x", "y"], 1).rows.tolist() == [[-1], [0]]
    assert found.problems["failed_questions"] == 1
    assert found.examples["failed_questions"] == "id-x, ValueError: a bug of theirs"
    assert found.problems["short_answers"] == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, r"gave nothing \(None\); a list of rows"),
        ("a", "gave a str; a list of rows"),
        ({"took": 3, "found": 0}, "gave a dict; a list of rows"),
        ({"error": "index not ready", "results": []}, "an error: index not ready"),
        (3, "gave an int; a list of rows"),
    ],
    ids=str,
)
def test_when_no_question_is_answered_the_cell_says_so(given, said):
    """Zero would be a wrong score and no bad one."""
    with pytest.raises(SettingError, match=rf"told answered no question \(2 asked\). The first: {said}"):
        prepared({"x": given, "y": given}, [about("x"), about("y")])


def test_when_nothing_came_back_the_cell_says_so():
    """An empty index is no measurement; what is missing is asked, with the first question."""
    with pytest.raises(
        SettingError,
        match=r"told returned no row for any question \(2 asked\). Is its index filled\? The first question was: x",
    ):
        prepared({"x": [], "y": {"results": []}}, [about("x"), about("y")])


def test_some_empty_answers_are_counted():
    """Beside others they are a note, and not counted as short too."""
    _, found, _, _ = prepared({"x": [], "y": [{"id": "a"}]}, [about("x"), about("y")])

    assert (found.problems["empty_answers"], found.problems["short_answers"]) == (1, 1)
    assert found.examples["empty_answers"] == "id-x, 0 rows"


@pytest.mark.parametrize("whole", [False, True])
def test_when_most_rows_match_no_document_the_cell_shows_the_first(whole):
    """Above half it fails, with the first two that match nothing; half is a note."""
    lost = [{"id": "kb-17", "text": "Refunds \n are " + "long " * 99}, {"snippet": "Paid."}, {"id": "kb-18"}]
    known = [{"id": "a:0-3"}, {"id": "b"}, {"id": "a:4-7"}]

    _, found, _, _ = prepared({"x": [*lost, *known]}, [about("x", whole=whole)])
    assert found.problems["unmapped_rows"] == 3
    with pytest.raises(SettingError) as raised:
        prepared({"x": [*lost, *known[:2]]}, [about("x", whole=whole)])
    said = str(raised.value)
    assert said.startswith(
        "3 of 5 rows that told returned match no document. For instance: {'id': 'kb-17', 'text': 'Refunds"
    )
    assert "…" in said
    assert "{'snippet': 'Paid.'} (a dict without an id or a text). Documents have ids such as a, b." in said
    assert "kb-18" not in said


@pytest.mark.parametrize(
    ("given", "at"),
    [
        ({"id": "7f3a", "source": "/home/me/docs/guide/b.md", "text": "five"}, (1, 0, 4)),
        ({"id": "7f3a", "source": "docs\\guide\\b.md"}, (1, 0, 25)),
        ({"id": "a.md", "source": "guide/b.md", "text": "five"}, (1, 0, 4)),
        ("guide/b.md", (1, 0, 25)),
        ("guide/b.md:5-8", (1, 5, 8)),
        ("six seven", (1, 5, 14)),
    ],
    ids=str,
)
def test_a_document_is_known_by_any_of_its_names(given, at):
    """A chunk's id beside a source, a path that ends with the id, a text that is an id; a text decides against an id."""
    documents = [Document("a.md", "one two"), Document("guide/b.md", "five six seven eight nine")]
    _, found, _, _ = prepared({"x": [given]}, [about("x")], documents=documents)

    assert found.problems["unmapped_rows"] == 0
    assert (found.chunks.doc[0], found.chunks.start[0], found.chunks.end[0]) == at


def test_it_is_asked_deeper_only_where_a_budget_is_open():
    """100 rows at first; twice as many for the questions whose rows do not fill the budgets, until there are no more."""
    documents = [Document("a", "one " * 3000)]
    rows = [{"id": f"a:{4 * i}-{4 * i + 3}"} for i in range(250)]
    answers = {"x": rows, "y": [{"id": "a"}] * 500, "z": rows[:30]}
    _, found, told, _ = prepared(
        lambda q, k: answers[q][:k], [about("x"), about("y"), about("z")], documents=documents
    )

    # x gives a token a row, so it is asked to its end; y gives 500 copies of one row of 3,000 tokens, to their end too.
    assert [k for _, k in told.asked] == [100, 200, 400, 800]
    assert [questions for questions, _ in told.asked] == [["x", "y", "z"], ["x", "y"], ["x", "y"], ["y"]]
    assert found.problems["rows"] == 250 + 500 + 30
    assert MOST_ROWS == 1600


def test_a_given_depth_is_asked_once():
    """Who asks for 20 rows gets what 20 rows are worth; fewer than k can't be."""
    rows = [{"id": f"a:{i}-{i + 1}"} for i in range(4)]
    _, found, told, _ = prepared({"x": rows}, [about("x")], depth=3)

    assert told.asked == [(["x"], 3)]
    assert found.problems["surplus_rows"] == 1
    with pytest.raises(SettingError, match=r"retriever.depth is 1, and k goes to 2"):
        prepared({"x": rows}, [about("x")], depth=1)


def test_nothing_is_called_out_of_the_index_that_nobody_knows():
    """What did not come back was not retrieved; only evidence in a document that is not there can't be reached."""
    gone = Question("gone", "y", (Evidence("not here", 0, 3),))
    questions = [about("x"), gone]
    external, found, _, metrics = prepared({"x": [{"id": "b"}], "y": [{"id": "b"}]}, questions)
    scores = score_all(metrics, "span", questions, external.search(["x", "y"], 1), found.chunks, found.tokens, [1], lambda _: np.zeros(2, np.int64), None, "recall_at_1"
    )  # fmt: skip

    assert scores.cause == ("not_retrieved", "not_in_index")
    assert set(scores.cause) <= set(CAUSES)
