from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from harness.errors import InputError
from harness.golden.beir import BeirGolden
from harness.records import Document, Evidence

DOCUMENTS = [Document("d1", "one"), Document("d2", "two")]
QUERIES = [{"_id": str(i), "text": f"query {i}", "metadata": {}} for i in range(1, 6)]
QRELS = "query-id\tcorpus-id\tscore\n1\td1\t1\n2\td2\t2\n2\td1\t1\n3\td1\t0\n4\td9\t1\n9\td1\t1\n"


def write(tmp_path, qrels=QRELS, queries=QUERIES, at="qrels/test.tsv"):
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    (tmp_path / at).parent.mkdir(exist_ok=True)
    (tmp_path / at).write_bytes(qrels.encode())
    return BeirGolden(str(tmp_path))


@pytest.mark.parametrize("at", ["qrels/test.tsv", "qrels.tsv"])
def test_judged_queries_become_questions(tmp_path, at):
    """Grades are kept; 0 is a judgement and no evidence; queries without judgements are not part of the split and no news."""
    labels = write(tmp_path, at=at).load(DOCUMENTS)

    assert [(q.question_id, q.text, q.kind) for q in labels.questions] == [
        ("1", "query 1", "document"),
        ("2", "query 2", "document"),
    ]
    assert labels.questions[1].evidence == (Evidence("d2", grade=2), Evidence("d1", grade=1))
    assert labels.left_out == {
        "3": "NO EVIDENCE: all judgements say: not relevant (1)",
        "4": "LOST: there is no document d9",
        "9": f"NO QUERY: judged in {at.rsplit('/', 1)[-1]}, but not in queries.jsonl",
    }
    assert labels.states == {"VALID": 3, "MOVED": 0, "CHANGED": 0, "LOST": 1}
    assert labels.name == f"{tmp_path.name}-test"


def test_windows_line_breaks_and_no_header_are_fine(tmp_path):
    """A table without BEIR's first line, saved on Windows, gives the same labels."""
    first = write(tmp_path).load(DOCUMENTS)
    second = write(tmp_path, QRELS.split("\n", 1)[1].replace("\n", "\r\n")).load(DOCUMENTS)

    assert second.questions == first.questions
    assert second.digest == first.digest


def test_a_missing_document_may_count_as_not_found(tmp_path):
    """keep_lost keeps the query, its document being one that does not exist."""
    write(tmp_path)

    labels = BeirGolden(str(tmp_path), keep_lost=True).load(DOCUMENTS)

    assert [q.question_id for q in labels.questions] == ["1", "2", "4"]
    assert labels.questions[2].evidence == (Evidence("(lost) d9"),)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1 d1", '2 fields, the last being "d1"; query, document and grade'),
        ("1 0 d 1 1", '5 fields, the last being "1"'),
        ("1\td1\thigh", 'the grade is "high"; a number such as 2 or 0.5'),
        ("1\td1\tnan", 'the grade is "nan"'),
        ("1\td1\tinf", 'the grade is "inf"'),
        ("1\td1\t1e999", "the grade is Infinity"),
        ("1\td1\t", '2 fields, the last being "d1"'),
        ("\td1\t1", 'the query\'s id is ""; an id is'),
        ("2\td2\t1", "the grade of query 2 and document d2 is 1, and 2 in line 3"),
    ],
)
def test_a_malformed_judgement_names_its_line(tmp_path, row, words):
    """Three or four fields, a finite number among them; a pair has one grade."""
    with pytest.raises(InputError) as caught:
        write(tmp_path, QRELS + row + "\n").load(DOCUMENTS)

    assert str(caught.value).startswith(f"{tmp_path / 'qrels/test.tsv'}:8: ")
    assert words in str(caught.value)
    assert caught.value.line == 8


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"_id": "1", "text": "x"}, 'the query id "1" occurs a second time'),
        ({"text": "x"}, "_id is missing; an id is a text"),
        ({"_id": "7", "text": ""}, "text is empty; a text is expected"),
        ({"_id": "7"}, "text is missing; a text is expected"),
    ],
)
def test_a_malformed_query_names_its_line(tmp_path, query, words):
    """Ids are unique, texts are not blank."""
    with pytest.raises(InputError) as caught:
        write(tmp_path, queries=[*QUERIES, query]).load(DOCUMENTS)

    assert str(caught.value).startswith(f"{tmp_path / 'queries.jsonl'}:6: ")
    assert words in str(caught.value)


def test_a_missing_split_lists_those_that_exist(tmp_path):
    """golden.split=dev where there is only test says so."""
    write(tmp_path)

    with pytest.raises(InputError, match=r"There are judgements for golden\.split=test\."):
        BeirGolden(str(tmp_path), split="dev").load(DOCUMENTS)
    (tmp_path / "queries.jsonl").unlink()
    with pytest.raises(InputError, match=r"There is no .*queries\.jsonl"):
        BeirGolden(str(tmp_path)).load(DOCUMENTS)


def test_judgements_of_another_corpus_are_refused(tmp_path):
    """No judged document is known: an error, not a table of zeros."""
    with pytest.raises(InputError, match="looks like a golden set for another corpus"):
        write(tmp_path).load([Document("x", "x")])


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(("queries", "qrels"), [("queries.tsv", "qrels/test.tsv"), ("queries.test.tsv", "qrels.test.tsv"), ("queries.jsonl", "qrels.tsv")])  # fmt: skip
def test_tables_and_packed_files_give_the_same_questions(tmp_path, queries, qrels, packed):
    """As MS MARCO names and writes them, and packed with gzip: the labels of the plain folder."""
    plain, other = tmp_path / "plain", tmp_path / "other"
    plain.mkdir()
    (other / "qrels").mkdir(parents=True)
    expected = write(plain).load(DOCUMENTS)
    lines = "".join(
        f"{q['_id']}\t{q['text']}\r\n" if queries.endswith(".tsv") else json.dumps(q) + "\n" for q in QUERIES
    )
    for name, content in ((queries, lines), (qrels, QRELS)):
        data = content.encode()
        (other / (name + packed)).write_bytes(gzip.compress(data) if packed else data)
    labels = BeirGolden(str(other)).load(DOCUMENTS)

    assert labels.questions == expected.questions
    assert labels.digest == expected.digest
    assert (
        labels.left_out["9"]
        == f"NO QUERY: judged in {Path(qrels).name}{packed}, but not in {queries}{packed}"
    )


def test_a_table_of_queries_with_a_bad_line(tmp_path):
    """The line is named; the splits of packed and plain judgements are offered."""
    (tmp_path / "queries.tsv").write_text("1\tquery 1\nno tab\n")
    (tmp_path / "qrels.dev.tsv.gz").write_bytes(gzip.compress(b"1\td1\t1\n"))

    with pytest.raises(InputError, match=r"queries\.tsv:2: .*an id, a tab and a text are expected"):
        BeirGolden(str(tmp_path), split="dev").load(DOCUMENTS)
    with pytest.raises(InputError, match=r"golden\.split=dev"):
        BeirGolden(str(tmp_path)).load(DOCUMENTS)


ROWS = [("q1", "d1", "0.5"), ("q1", "d2", "1.9"), ("q2", "d2", "-1"), ("q2", "d1", "3.0")]


@pytest.mark.parametrize("between", ["\t", " ", "   "])
@pytest.mark.parametrize("is_trec", [True, False])
@pytest.mark.parametrize(
    "header", ["", "query-id corpus-id score", "qid 0 docno rel", "frage x dokument note"]
)
def test_one_reader_for_every_layout_of_judgements(tmp_path, between, is_trec, header):
    """A first line of data is never taken for a header, a header never for data; grades are kept exactly."""
    rows = [(query, *["Q0"] * is_trec, doc_id, grade) for query, doc_id, grade in ROWS]
    names = header.split()
    names = names[:1] + names[-2:] if not is_trec else names if len(names) == 4 else []
    text = "".join(between.join(fields) + "\n" for fields in [names, *rows] if fields)
    queries = [{"_id": "q1", "text": "one"}, {"_id": "q2", "text": "two"}]
    labels = write(tmp_path, text, queries).load(DOCUMENTS)

    assert [question.evidence for question in labels.questions] == [
        (Evidence("d1", grade=0.5), Evidence("d2", grade=1.9)),
        (Evidence("d1", grade=3),),
    ]
    assert labels.questions[1].not_relevant == (Evidence("d2", grade=-1),)
    assert isinstance(labels.questions[1].evidence[0].grade, int)


def test_a_header_says_which_column_is_which(tmp_path):
    """Columns in another order, named; ids that are numbers; a document's id with a blank between tabs."""
    text = "corpus-id\tquery-id\tscore\n10\t1\t1.0\nmy doc\t1\t2\n"
    (question,) = write(tmp_path, text).load([Document("10", "x"), Document("my doc", "y")]).questions

    assert question.evidence == (Evidence("10"), Evidence("my doc", grade=2))


def test_a_bad_first_line_is_not_swallowed(tmp_path):
    """It has a digit and no known name, so it is data."""
    with pytest.raises(InputError, match=r"test\.tsv:1: the grade is \"high\""):
        write(tmp_path, "1\td1\thigh\n2\td2\t1\n").load(DOCUMENTS)


def test_the_threshold_and_other_names(tmp_path):
    """relevant_from=2 leaves one relevant document; ids are resolved as in other golden sets."""
    write(tmp_path, "1\tcorpus/D1\t2\n1\td2\t1\n")
    labels = BeirGolden(str(tmp_path), relevant_from=2).load(DOCUMENTS)

    assert labels.questions[0].evidence == (Evidence("d1", grade=2),)
    assert labels.questions[0].not_relevant == (Evidence("d2", grade=1),)
    assert labels.other_names == {"corpus/D1": "d1"}


def test_a_data_set_of_which_most_is_lost_is_refused(tmp_path):
    """Two of three judged documents are not in the corpus: nothing is scored, unless that is wanted."""
    write(tmp_path, "1\td1\t1\n2\td8\t1\n3\td9\t1\n")

    with pytest.raises(InputError, match=r"only 1 of 3 questions.*1 VALID.*2 LOST.*keep_lost=true"):
        BeirGolden(str(tmp_path)).load(DOCUMENTS)
    assert len(BeirGolden(str(tmp_path), keep_lost=True).load(DOCUMENTS).questions) == 3
