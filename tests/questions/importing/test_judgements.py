"""Judgements of documents in rows: graded, denied, contradictory, blank, about documents by other names."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from workplace import Workplace

from harness.golden import add
from harness.golden.file import FileGolden
from harness.questions.importing import grouped, without_quote, without_refused
from harness.questions.importing.finding import find
from harness.questions.importing.recognise import read
from harness.records import Document, Evidence, Question

IDS = ("other.md", "pay.md", "pump.md", "faq.txt", "warranty.md", "guides/doors.md", "007")
DOCUMENTS = tuple(
    Document(doc_id, f"Page {i} says that there are {i} doors.", position=i) for i, doc_id in enumerate(IDS)
)
DOORS = "How many doors has the warehouse?"


def taken(path: Path, relevant_from: float | None = None) -> tuple[list[Question], dict[str, str]]:
    """The questions that a file gives, and where it was refused with the reasons."""
    given = read(path)
    whole, refused = without_refused(given.questions, [*given.refused, *without_quote(given.questions)])
    found = find(grouped(whole), DOCUMENTS, relevant_from=relevant_from)
    return found.questions, {row.row.where: row.reason for row in [*refused, *found.refused]}


def write(path: Path, rows: list[dict[str, object]], kind: str) -> Path:
    """The rows as a table, as JSON lines, or as one list."""
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        lines = "\n".join(json.dumps(row) for row in rows)
        path.write_text(lines if kind == "jsonl" else json.dumps(rows), encoding="utf-8")
    return path


def said(question: Question) -> dict[str, float]:
    """Each judged document with its grade, as the question has it; those against are marked by a minus or 0."""
    assert all(place.is_document for place in (*question.evidence, *question.not_relevant))
    return {place.doc_id: place.grade for place in question.evidence}


def denied(question: Question) -> dict[str, float]:
    """The documents that were judged not relevant."""
    return {place.doc_id: place.grade for place in question.not_relevant}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json"])
@pytest.mark.parametrize(
    "name",
    ["rating", "Rating", "relevance", "grade", "label", "score", "judgement", "judgment", "rel", "gain", "relevance score"],
)  # fmt: skip
@pytest.mark.parametrize("document", ["docid", "doc_id", "corpus-id"])
def test_a_column_of_grades_beside_documents(tmp_path, kind, name, document):
    """One question, a graded document and one that was judged not relevant, whatever the columns are called."""
    rows = [
        {"query": DOORS, document: doc_id, name: grade} for doc_id, grade in (("other.md", 3), ("pay.md", 0))
    ]
    (question,), refused = taken(write(tmp_path / "ask", rows, kind))

    assert refused == {}
    assert (question.text, said(question), denied(question)) == (DOORS, {"other.md": 3}, {"pay.md": 0})
    assert question.provenance == {}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_grades_are_kept_exactly_or_refused_with_their_line(tmp_path, kind):
    """Floats and negative ones are kept; words that mean one thing are read; the rest is named, the others go on."""
    grades = [0.5, "1.9", -1, "3.0", "yes", "Not relevant", "high", "inf", "nan", "", "1e999", "0,5"]
    rows = [
        {"query": f"Question {i}?", "doc_id": "pay.md", "rating": grade} for i, grade in enumerate(grades)
    ]
    questions, refused = taken(write(tmp_path / "ask", rows, kind))
    first = 2 if kind == "csv" else 1

    assert [said(question).get("pay.md") for question in questions] == [0.5, 1.9, None, 3, 1, None]
    assert [denied(question).get("pay.md") for question in questions] == [None, None, -1, None, None, 0]
    assert list(refused) == [f"line {first + i}" for i in range(6, 12)]
    assert 'rating is "high"; a grade is a number, or one of relevant, yes' in refused[f"line {first + 6}"]
    assert "rating is blank, so the document is not judged" in refused[f"line {first + 9}"]
    assert "the grades are [0, 5]; one for each document is expected" in refused[f"line {first + 11}"]


def test_a_row_that_is_refused_leaves_the_other_judgements_of_its_question(tmp_path):
    """A judgement less is the same question, with an id and without."""
    table = "qid,query,doc_id,rating\n1,Pump?,pump.md,2\n1,Pump?,faq.txt,high\n1,Pump?,pay.md,\n"
    (tmp_path / "ask.csv").write_text(table, encoding="utf-8")
    (question,), refused = taken(tmp_path / "ask.csv")

    assert said(question) == {"pump.md": 2}
    assert list(refused) == ["line 3", "line 4"]


@pytest.mark.parametrize(
    "row",
    [
        {"relevant_docs": {"pump.md": 2, "faq.txt": 0}},
        {"relevant_docs": '{"pump.md": 2, "faq.txt": 0}'},
        {"relevant_doc_ids": {"pump.md": 2, "faq.txt": 0}},
        {"relevant_doc_ids": ["pump.md", "faq.txt"], "relevance": [2, 0]},
        {"doc_ids": "pump.md;faq.txt", "ratings": "x", "rating": "2;0"},
        {"relevant_docs": [{"doc_id": "pump.md", "rating": 2}, {"doc_id": "faq.txt", "rating": 0}]},
        {"evidence": [{"doc_id": "pump.md", "grade": 2}, {"doc_id": "faq.txt", "grade": 0}]},
        {"evidence": [{"doc_id": "pump.md", "grade": 2}], "not_relevant": [{"doc_id": "faq.txt"}]},
        {"gold_id": ["pump.md", "faq.txt"], "grade": [2, 0]},
    ],
)
def test_several_judgements_in_one_row(tmp_path, row):
    """A dictionary, lists side by side, a list of objects, our own layout: grades are never lost."""
    (question,), refused = taken(write(tmp_path / "ask.jsonl", [{"query": "Pump?", **row}], "jsonl"))

    assert refused == {}
    assert (said(question), denied(question)) == ({"pump.md": 2}, {"faq.txt": 0})


def test_a_passage_that_was_judged_not_relevant_is_no_evidence(tmp_path):
    """Pairs of question and passage with a label; a label that is no grade is about something else."""
    rows = [
        {"query": "Doors?", "passage": DOCUMENTS[1].text, "label": 1},
        {"query": "Doors?", "passage": DOCUMENTS[2].text, "label": 0},
        {"query": "Windows?", "passage": DOCUMENTS[3].text, "label": "building"},
    ]
    (doors, windows), refused = taken(write(tmp_path / "ask.jsonl", rows, "jsonl"))

    assert refused == {}
    assert [place.doc_id for place in doors.evidence] == ["pay.md"]
    assert [place.doc_id for place in doors.not_relevant] == ["pump.md"]
    assert windows.provenance == {"metadata": {"label": "building"}}


def test_a_rating_without_a_document_is_what_users_thought_of_an_answer(tmp_path):
    """The log of an assistant: thumbs and ratings of answers are feedback, beside a document too if called so."""
    rows = [
        {"question": "a?", "quote": "says that there are 3 doors", "rating": 0},
        {"question": "b?", "doc_id": "pay.md", "thumbs": "down"},
    ]
    first, second = taken(write(tmp_path / "log.jsonl", rows, "jsonl"))[0]

    assert (first.provenance, len(first.evidence)) == ({"feedback": 0}, 1)
    assert (second.provenance, said(second)) == ({"feedback": "down"}, {"pay.md": 1})


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_rows_of_one_question_are_one_question(tmp_path, kind, with_ids):
    """Two questions of three and two rows, mixed; a judgement that is repeated counts once."""
    judged = [
        ("Pump?", "pump.md", 2),
        ("Doors?", "other.md", 1),
        ("Pump?", "faq.txt", 0),
        ("Doors?", "guides/doors.md", 3),
    ]
    rows = [
        {**({"query_id": text} if with_ids else {}), "query": text, "doc_id": doc_id, "grade": grade}
        for text, doc_id, grade in [*judged, judged[0]]
    ]
    pump, doors = taken(write(tmp_path / "ask", rows, kind))[0]

    assert (said(pump), denied(pump)) == ({"pump.md": 2}, {"faq.txt": 0})
    assert (said(doors), denied(doors)) == ({"other.md": 1, "guides/doors.md": 3}, {})


def test_judgements_that_contradict_each_other_are_left_out_and_named(tmp_path):
    """With both lines, by whatever name the document goes; the question keeps the rest."""
    rows = [
        {"query": "Pump?", "doc_id": doc_id, "grade": grade}
        for doc_id, grade in (("pump.md", 3), ("faq.txt", 1), ("docs/pump.md", 0), ("faq", 1))
    ]
    (question,), refused = taken(write(tmp_path / "ask.jsonl", rows, "jsonl"))

    assert said(question) == {"faq.txt": 1}
    assert set(refused) == {"line 1", "line 3"}
    assert "the grade of pump.md is 3 in line 1 and 0 in line 3" in refused["line 1"]


def test_a_question_without_evidence_is_kept_if_that_is_said(tmp_path):
    """An empty list, or judgements against alone; a row that says nothing at all is refused."""
    rows = [
        {"query": "a?", "evidence": []},
        {"query": "b?", "relevant_docs": {}},
        {"query": "c?", "relevant_docs": {"pay.md": 0}},
        {"query": "d?", "evidence": None},
        {"query": "e?"},
    ]
    questions, refused = taken(write(tmp_path / "ask.jsonl", rows, "jsonl"))

    assert [(question.text, question.evidence) for question in questions] == [
        ("a?", ()),
        ("b?", ()),
        ("c?", ()),
    ]
    assert list(refused) == ["line 4", "line 5"]


def test_a_threshold_makes_low_grades_judgements_against(tmp_path):
    """relevant_from=2 on a scale from 0 to 3: their grades stay."""
    rows = [{"query": "Pump?", "doc_id": IDS[grade], "grade": grade} for grade in range(4)]
    (question,), _ = taken(write(tmp_path / "ask.jsonl", rows, "jsonl"), relevant_from=2)

    assert (said(question), denied(question)) == (
        {"pump.md": 2, "faq.txt": 3},
        {"other.md": 0, "pay.md": 1},
    )


def test_what_is_not_relevant_needs_no_document(tmp_path):
    """Nothing depends on a document that was deleted since somebody judged it not relevant."""
    rows = [
        {"query": "Pump?", "doc_id": doc_id, "grade": i} for i, doc_id in enumerate(["gone.md", "pump.md"])
    ]
    (question,), refused = taken(write(tmp_path / "ask.jsonl", rows, "jsonl"))

    assert refused == {}
    assert (said(question), denied(question)) == ({"pump.md": 1}, {"gone.md": 0})


NAMES = {
    "docs/pump.md": "pump.md",
    "/home/somebody/docs/pump.md": "pump.md",
    "C:\\docs\\guides\\doors.md": "guides/doors.md",
    "./pump.md": "pump.md",
    "../x/../pump.md": "pump.md",
    "guides\\doors.md": "guides/doors.md",
    "Guides/DOORS.md": "guides/doors.md",
    "doors.md": "guides/doors.md",
    "7": "007",
    "7.0": "007",
    "pump": "pump.md",
    "pump.pdf": "pump.md",
    "manuals/pump": "pump.md",
    "manuals/doors.html": "guides/doors.md",
    "guides/pump.md": None,  # of a folder that is there: deleted
    "pumps.md": None,
    "8": None,
}


@pytest.mark.parametrize("given", NAMES)
def test_documents_named_otherwise(tmp_path, given):
    """Found if one document fits; a deleted document of a folder of the corpus is not taken for another."""
    questions, refused = taken(write(tmp_path / "ask.jsonl", [{"query": "x?", "doc_id": given}], "jsonl"))

    assert [said(question) for question in questions] == [{NAMES[given]: 1}] * bool(NAMES[given])
    assert bool(refused) == (NAMES[given] is None)


def test_several_documents_that_fit_are_none(tmp_path):
    """Two numbers that differ in zeros, two files that differ in their extension."""
    documents = [Document("07", "a"), Document("007", "b"), Document("x.md", "c"), Document("x.txt", "d")]
    given = read(write(tmp_path / "ask.jsonl", [{"query": "x?", "doc_id": i} for i in ("7", "x")], "jsonl"))
    found = find([[question] for question in given.questions], documents)

    assert (found.questions, len(found.refused)) == ([], 2)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_blank_quote_is_refused_like_a_missing_one(tmp_path, kind):
    """Beside a document it would silently label all of it; what was judged not relevant has no quote to give."""
    rows = [
        {"question": "a?", "doc_id": "pay.md", "quote": "says that there are", "grade": 2},
        {"question": "b?", "doc_id": "pay.md", "quote": " ", "grade": 2},
        {"question": "a?", "doc_id": "faq.txt", "quote": "", "grade": 0},
    ]
    (question,), refused = taken(write(tmp_path / "ask", rows, kind))

    assert [place.quote for place in question.evidence] == ["says that there are"]
    assert denied(question) == {"faq.txt": 0} or len(question.not_relevant) == 1
    assert [reason[:18] for reason in refused.values()] == ["the quote is blank"]


def test_thousands_of_rows_of_one_question(tmp_path):
    """Each with metadata of its own, added to a set twice: the work grows with the rows."""
    rows = [{"query": "x?", "doc_id": f"d{i}", "grade": i % 4, "rank": i} for i in range(20_000)]
    documents = [Document(f"d{i}", "x", position=i) for i in range(20_000)]
    given = read(write(tmp_path / "ask.csv", rows, "csv"))
    (question,) = find(grouped(given.questions), documents).questions

    assert (len(question.evidence), len(question.not_relevant)) == (15_000, 5_000)
    assert len(question.provenance["also"]) == 19_999


def words(here: Workplace, *more: str) -> list[str]:
    """The words of the command for this corpus and golden set."""
    return ["ask.csv", "corpus=folder", f"corpus.path={here.documents}", f"golden.path={here.golden}", *more]


TABLE = """query,docid,rating
Tea?,tea.md,3
Tea?,./documents/cocoa.txt,0
Tea?,coffee/filter.md,1
Cocoa?,tea.md,0
Coffee?,filter,2
"""


def test_judgements_are_counted_said_and_survive(here, capsys):
    """What the terminal says, what the file holds, and that it is the same when the same file is added again."""
    (here.root / "ask.csv").write_text(TABLE, encoding="utf-8")
    code = add.main(words(here, "relevant_from=2"))
    out = capsys.readouterr().out
    before = here.golden.read_text(encoding="utf-8")
    again = add.main(words(here, "relevant_from=2"))

    assert (code, again) == (0, 0)
    assert "           3 questions from 5 rows\nlabels     2 VALID\n" in out
    assert "           3 judgements say: not relevant\n" in out
    assert "           1 question without evidence: kept in the set, not scored\n" in out
    assert "other names for documents: ./documents/cocoa.txt is cocoa.txt and 1 more" in " ".join(out.split())
    tea = json.loads(before.splitlines()[0])
    assert tea["evidence"] == [{"doc_id": "tea.md", "grade": 3}]
    assert tea["not_relevant"] == [{"doc_id": "cocoa.txt"}, {"doc_id": "coffee/filter.md", "grade": 1}]
    assert here.golden.read_text(encoding="utf-8") == before
    labels = FileGolden(str(here.golden)).load(
        [Document(doc_id, "x") for doc_id in ("tea.md", "coffee/filter.md")]
    )
    assert (len(labels.questions), labels.not_relevant) == (2, 3)
    assert list(labels.left_out.values()) == ["NO EVIDENCE: all judgements say: not relevant (1)"]


def test_more_judgements_of_a_question_are_added_to_it(here, capsys):
    """The rejected row, corrected, extends the question; what was there stays, and so does what it denies."""
    (here.root / "ask.csv").write_text(
        TABLE.replace("coffee/filter.md,1", "coffee/filter.md,good"), encoding="utf-8"
    )
    add.main(words(here))
    (here.root / "ask.csv").write_text(
        "query,docid,rating\nTea?,coffee/filter.md,1.5\nTea?,cocoa.txt,2\nCocoa?,cocoa.txt,1\n",
        encoding="utf-8",
    )
    code = add.main(words(here))
    tea, cocoa, coffee = (json.loads(line) for line in here.golden.read_text(encoding="utf-8").splitlines())

    assert code == 0
    assert "2 were extended" in capsys.readouterr().out
    assert tea["evidence"] == [{"doc_id": "tea.md", "grade": 3}, {"doc_id": "coffee/filter.md", "grade": 1.5}]
    assert tea["not_relevant"] == [{"doc_id": "cocoa.txt"}]
    assert tea["provenance"]["also"] == [{"judged": {"cocoa.txt": 2}}]
    assert cocoa["evidence"] == [{"doc_id": "cocoa.txt"}]
    assert coffee["evidence"] == [{"doc_id": "coffee/filter.md", "grade": 2}]


def test_an_import_of_which_most_is_lost_is_loud(here, capsys):
    """Three of five documents are not there: the two are added, the exit code is 1."""
    rows = [f"Q{i}?,{doc_id},1\n" for i, doc_id in enumerate(["tea.md", "cocoa.txt", "rum", "gin", "ale"])]
    (here.root / "ask.csv").write_text("query,docid,rating\n" + "".join(rows), encoding="utf-8")
    code = add.main(words(here))

    assert code == 1
    assert "\n!! More than half of the labels were not found." in capsys.readouterr().out
    assert len(here.golden.read_text(encoding="utf-8").splitlines()) == 2


def test_quotes_may_be_optional(here, capsys):
    """quotes=optional takes the whole document, and counts how often."""
    rows = "question,doc_id,quote\nTea?,tea.md,\nCoffee?,filter,60 grams\n"
    (here.root / "ask.csv").write_text(rows, encoding="utf-8")
    refused = add.main(words(here))
    assert "1 row\n           line 2: the quote is blank" in capsys.readouterr().out
    code = add.main(words(here, "quotes=optional"))

    assert (refused, code) == (0, 0)
    assert "           1 row without a quote: the whole document counts\n" in capsys.readouterr().out
    assert json.loads(here.golden.read_text(encoding="utf-8").splitlines()[1])["evidence"] == [
        {"doc_id": "tea.md"}
    ]


def test_one_id_with_two_texts_is_named(here, capsys):
    """Both go on, the second under another id."""
    rows = "qid,query,doc_id\n1,Tea?,tea.md\n1,Cocoa?,cocoa.txt\n"
    (here.root / "ask.csv").write_text(rows, encoding="utf-8")
    add.main(words(here))

    assert "the id 1 has two questions: in line 2 and line 3" in capsys.readouterr().out
    assert len(here.golden.read_text(encoding="utf-8").splitlines()) == 2


def test_judgements_beside_topics(here, capsys):
    """TREC's file with a float, a bad grade and a contradiction: each is named, the topic goes on."""
    (here.root / "ask.csv").write_text("16\tTea?\n", encoding="utf-8")
    lines = ["tea.md 0.5", "cocoa.txt high", "coffee/filter.md 1", "coffee/filter.md 0", "rum.md -1"]
    (here.root / "qrels").write_text("".join(f"16 Q0 {line}\n" for line in lines), encoding="utf-8")
    code = add.main(words(here, "qrels=qrels"))
    out = " ".join(capsys.readouterr().out.split())
    line = json.loads(here.golden.read_text(encoding="utf-8"))

    assert code == 0
    assert line["evidence"] == [{"doc_id": "tea.md", "grade": 0.5}]
    assert line["not_relevant"] == [{"doc_id": "rum.md", "grade": -1}]
    assert 'qrels, line 2: the grade is "high"' in out
    assert "qrels, line 4: the grade of query 16 and document coffee/filter.md is 0, and 1" in out


def test_labels_of_every_kind_read_back(tmp_path):
    """Written by the set's own writer: whole numbers stay whole, floats floats."""
    from harness.golden.question_json import as_object, draft_of

    question = Question(
        "q", "x?", (Evidence("a", grade=3), Evidence("b", grade=0.5)), not_relevant=(Evidence("c", grade=0), Evidence("d", 1, 4, "abc", -2.5))
    )  # fmt: skip
    item = json.loads(json.dumps(as_object(question)))
    draft = draft_of(1, item)

    assert json.dumps(item["evidence"]) == '[{"doc_id": "a", "grade": 3}, {"doc_id": "b", "grade": 0.5}]'
    assert (draft.evidence, draft.not_relevant) == (question.evidence, question.not_relevant)
