"""Judgement lists as teams with a search engine export them, each file as its tool writes it."""

from __future__ import annotations

import gzip
import json

import pytest
from named import refused, rows, write

from harness.errors import InputError
from harness.questions.importing.recognise import named_rows


def test_quepid_basic(tmp_path):
    """Grades 3, 0 and -1 are kept as they are; a query that nobody rated says nothing and is counted."""
    text = "query,docid,rating\nhow many doors,other.md,3\nhow many doors,pay.md,0\nHow far?,far.md,-1\nunrated,,\n"
    found, kind = named_rows(write(tmp_path, "case_8_judgements.csv", text))

    assert kind == "ratings of documents, as Quepid and OpenSearch write them (separated by commas)"
    assert (found.empty, found.rows.total) == (1, 3)
    assert rows(tmp_path / "case_8_judgements.csv") == [
        {"question": "how many doors", "docid": "other.md", "grade": "3"},
        {"question": "how many doors", "docid": "pay.md", "grade": "0"},
        {"question": "How far?", "docid": "far.md", "grade": "-1"},
    ]


def test_quepid_detailed(tmp_path):
    """What else the export says is kept; a document without a rating was not judged, so it is no evidence."""
    header = "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating\n"
    text = header + "T,C,8,dog,a.md,1,Good dog,3\nT,C,8,dog,b.md,2,Other,\n"
    (row,) = rows(write(tmp_path, "detail.csv", text))

    assert (row["question"], row["doc_id"], row["grade"]) == ("dog", "a.md", "3")
    assert (row["title"], row["case_id"], row["doc_position"]) == ("Good dog", "8", "1")


@pytest.mark.parametrize(
    "text",
    [
        "Team Name,Case Name,Case ID,Query Text,Score,Date Last Scored,Count,Information Need,Notes,Options\nT,C,8,dog,30,2015-07-14,,,,\n",
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\nS,2026-03-05,8,dog,doc-1,1,Good dog\n",
    ],
)
def test_quepid_exports_without_ratings(tmp_path, text):
    """Scores of queries and documents that were found say nothing of what is right."""
    with pytest.raises(
        InputError, match="a Quepid export without ratings; export the case as Detailed or Basic"
    ):
        named_rows(write(tmp_path, "general.csv", text))


def test_a_quepid_book(tmp_path):
    """The judges' mean: (3 + 2) / 2 = 2.5, (0) / 1 = 0; the pair that nobody judged is counted."""
    text = "query,docid,Ann,Ben Lee\ndog,a.md,3,2\ndog,b.md,,0\ncat,c.md,,\n"
    found, _ = named_rows(write(tmp_path, "book.csv", text))
    exported = {"name": "B", "query_doc_pairs": [{"query_text": "dog", "doc_id": "a.md", "position": 1, "judgements": [{"rating": 3.0}, {"rating": 2.0}, {"unrateable": True}]}]}  # fmt: skip

    assert found.empty == 1
    assert [(row["docid"], row["grade"]) for row in rows(tmp_path / "book.csv")] == [
        ("a.md", 2.5),
        ("b.md", 0),
    ]
    assert [(row["doc_id"], row["grade"]) for row in rows(write(tmp_path, "book.json", exported))] == [
        ("a.md", 2.5)
    ]


def test_other_numbers_beside_a_document_are_no_ratings(tmp_path):
    """A page or a text in a column of its own makes the table what it was before: whole documents."""
    for name, text in {
        "page.csv": "query,docid,page\ndog,a.md,12\ncat,b.md,3\n",
        "rel.csv": "query,docid,rel\ndog,a.md,1\ncat,b.md,0\n",
        "note.csv": "query,docid,note\ndog,a.md,\ncat,b.md,see above\n",
    }.items():
        assert [row["docid"] for row in rows(write(tmp_path, name, text))] == ["a.md", "b.md"]


LISTS = [
    {
        "query": "red dress",
        "ratings": [{"docId": "B07", "rating": "3.000"}, {"docId": "B08", "rating": "0.000"}],
    },
    {"query": "laptop", "ratings": [{"docId": "B01", "rating": 0.75}]},
]


@pytest.mark.parametrize(
    "content",
    [
        {"name": "Imported", "type": "IMPORT_JUDGMENT", "judgmentRatings": LISTS},
        {
            "hits": {
                "total": {"value": 1},
                "hits": [{"_id": "x", "_source": {"id": "x", "judgmentRatings": LISTS}}],
            }
        },
        LISTS,
        "".join(json.dumps(item) + "\n" for item in LISTS),
        [
            {"query": "red dress", "ratings": {"B07": 3, "B08": 0}},
            {"query": "laptop", "ratings": {"B01": 0.75}},
        ],
    ],
)
def test_opensearch(tmp_path, content):
    """What is imported, what the search answers, and Quepid's object of ratings: 3, 0 and 0.75."""
    path = write(tmp_path, "judgments.json", content)

    assert named_rows(path)[1].startswith("judgements of OpenSearch (JSON")
    assert rows(path) == [
        {"question": "red dress", "evidence": [{"doc_id": "B07", "grade": 3}, {"doc_id": "B08", "grade": 0}]},
        {"question": "laptop", "evidence": [{"doc_id": "B01", "grade": 0.75}]},
    ]


def test_a_rating_that_is_no_number(tmp_path):
    """It is refused with its row; the other stays."""
    path = write(
        tmp_path, "q.jsonl", [LISTS[1], {"query": "x", "ratings": [{"docId": "a", "rating": "good"}]}]
    )

    assert len(rows(path)) == 1
    assert refused(path) == {"entry 2": 'the rating is "good"; a number is expected.'}


RATED = [{"_index": "pages", "_id": "a.md", "rating": 3}, {"_index": "pages", "_id": "b.md", "rating": 0}]


@pytest.mark.parametrize(
    "query",
    [
        {"match": {"text": "how long"}},
        {"match": {"text": {"query": "how long", "operator": "and"}}},
        {"multi_match": {"query": "how long", "fields": ["title^2", "text"]}},
        {"query_string": {"query": "how long", "default_field": "text"}},
        {"bool": {"should": [{"match": {"title": "how long"}}, {"match_phrase": {"text": {"query": "how long", "slop": 2}}}], "filter": [{"match": {"lang": "english"}}]}},
        {"function_score": {"query": {"match": {"text": "how long"}}, "functions": [{"weight": 2}]}},
        {"semantic": {"field": "text", "query": "how long"}},
        {"neural": {"embedding": {"query_text": "how long", "model_id": "m", "k": 5}}},
    ],
)  # fmt: skip
def test_rank_eval_finds_the_words_of_the_query(tmp_path, query):
    """Wherever the words stand, they are the question; filters and settings are not."""
    content = {
        "requests": [{"id": "q1", "request": {"query": query}, "ratings": RATED}],
        "metric": {"dcg": {"k": 5}},
    }
    path = write(tmp_path, "rank_eval.json", content)

    assert named_rows(path)[1] == "an Elasticsearch _rank_eval (JSON)"
    (row,) = rows(path)
    assert (row["id"], row["question"]) == ("q1", "how long")
    assert row["evidence"] == [{"doc_id": "a.md", "grade": 3}, {"doc_id": "b.md", "grade": 0}]


@pytest.mark.parametrize(
    "template",
    [
        {"inline": {"query": {"match": {"{{field}}": {"query": "{{words}}"}}}}},
        {"source": '{"query": {"match": {"{{field}}": "{{words}}"}}}'},
        None,
    ],
)
def test_rank_eval_with_templates(tmp_path, template):
    """The template says which parameter is the query; without it a parameter with a known name is."""
    params = (
        {"words": 'how "long"', "field": "text"}
        if template
        else {"query_string": 'how "long"', "field": "text"}
    )
    templates = {"templates": [{"id": "t", "template": template}]} if template else {}
    request = {"id": "q1", "template_id": "t", "params": params, "ratings": RATED}

    assert (
        rows(write(tmp_path, "r.json", {**templates, "requests": [request]}))[0]["question"] == 'how "long"'
    )


def test_rank_eval_without_one_clear_text(tmp_path):
    """Two different texts, or none: the request is refused by name and the others are taken."""
    two = {"bool": {"must": [{"match": {"title": "dogs"}}, {"match": {"text": "cats"}}]}}
    queries = [two, {"term": {"tag": "x"}}, {"match": {"text": "birds"}}]
    path = write(tmp_path, "r.json", {"requests": [{"id": f"q{i}", "request": {"query": query}, "ratings": RATED} for i, query in enumerate(queries)]})  # fmt: skip
    reasons = refused(path)

    assert [row["question"] for row in rows(path)] == ["birds"]
    assert 'found: several: "dogs", "cats"' in reasons["entry 1"]
    assert "found: none" in reasons["entry 2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 Q0 a.md 1 14.2 bm25\nq1 Q0 b.md 2 13.1 bm25\n", "a run of TREC: what a retriever returned"),
        ("query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t0.5\n", "holds judgements"),
        ("1\ta.md\t1.0\n2\tb.md\t0\n", "holds judgements"),
        ("1 0 a.md 2\n2 0 b.md 0\n", "holds judgements"),
        ("3 qid:1 1:0.5 # a.md\n0 qid:1 1:0.1 # b.md\n", "features for learning to rank"),
        ("1185869\twhat was the impact of it\n1185868\twho did that\n", "holds ids and texts"),
    ],
)
def test_half_of_a_test_collection_is_named(tmp_path, text, said):
    """Queries alone, judgements alone, and results: each is told from a table of questions."""
    with pytest.raises(InputError, match=said):
        named_rows(write(tmp_path, "file.tsv", text))


def test_packed_judgements(tmp_path):
    """A .csv.gz is the same file."""
    path = tmp_path / "j.csv.gz"
    path.write_bytes(gzip.compress(b"query,docid,rating\ndog,a.md,2\n"))

    assert rows(path) == [{"question": "dog", "docid": "a.md", "grade": "2"}]
