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
    """Grades are kept; 0 is no evidence; queries without judgements are not part of the split and no news."""
    labels = write(tmp_path, at=at).load(DOCUMENTS)

    assert [(q.question_id, q.text, q.kind) for q in labels.questions] == [
        ("1", "query 1", "document"),
        ("2", "query 2", "document"),
    ]
    assert labels.questions[1].evidence == (Evidence("d2", grade=2), Evidence("d1", grade=1))
    assert labels.left_out == {
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
        ("1 d1 1", '1 field, the last being "1 d1 1"'),
        ("1\t0\td1\t1", '4 fields, the last being "1"'),
        ("1\td1\thigh", '3 fields, the last being "high"'),
        ("2\td2\t1", "query 2 and document d2 were graded 2 before"),
    ],
)
def test_a_malformed_judgement_names_its_line(tmp_path, row, words):
    """Fields are separated by tabs and end in a whole number; a pair has one grade."""
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
