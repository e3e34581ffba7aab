"""Every format that questions come in, by a small file made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import InputError, SettingError
from harness.questions.importing import grouped, without_refused
from harness.questions.importing.finding import find
from harness.questions.importing.recognise import FORMATS, read
from harness.records import Document, Question

DOCUMENTS = (
    Document(
        "guides/tea.md",
        "# Tea\n\nGreen tea takes two minutes.\n\nBlack tea takes\nfour minutes.\n",
        position=0,
    ),
    Document(
        "coffee.md",
        "Use 60 grams for each litre.\n\nRinse after every shot.\n\nRinse after every shot.\n",
        position=1,
    ),
)
GREEN = ("guides/tea.md", 7, 35)  # "Green tea takes two minutes."
GRAMS = ("coffee.md", 0, 28)  # "Use 60 grams for each litre."


def taken(path: Path, **options: object) -> tuple[list[Question], dict[str, str]]:
    """The questions that a file gives, and where it was refused with the reasons."""
    given = read(path, **options)
    whole, refused = without_refused(given.questions, given.refused)
    found = find(grouped(whole), DOCUMENTS)
    return found.questions, {row.row.where: row.reason for row in [*refused, *found.refused]}


def write(tmp_path: Path, name: str, content: object) -> Path:
    """A file with this text, or this value as JSON."""
    path = tmp_path / name
    path.write_text(
        content if isinstance(content, str) else json.dumps(content), encoding="utf-8", newline=""
    )
    return path


def places(question: Question) -> list[tuple[str, int | None, int | None]]:
    """Where the evidence stands."""
    return [(unit.doc_id, unit.start, unit.end) for unit in question.evidence]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"query": "How long?", "evidence": [{"doc_id": "guides/tea.md", "start": 7, "end": 35}]}, [GREEN]),
        ({"question": "How long?", "evidence": [{"quote": "Green tea takes two minutes."}]}, [GREEN]),
        ({"question": "How long?", "gold_id": 1}, [("coffee.md", None, None)]),
        ({"question": "How long?", "gold_id": "coffee.md"}, [("coffee.md", None, None)]),
        ({"query": "How long?", "relevant_doc_ids": ["coffee.md", "guides/tea.md"]}, [("coffee.md", None, None), ("guides/tea.md", None, None)]),
        ({"question": "How long?", "quote": "Green tea takes two minutes."}, [GREEN]),
        ({"question": "How long?", "doc_id": "coffee.md"}, [("coffee.md", None, None)]),
        ({"question": "How long?", "doc_id": "Coffee"}, [("coffee.md", None, None)]),
        ({"question": "How long?", "relevant_doc_ids": "tea.md"}, [("guides/tea.md", None, None)]),
        ({"question": "How long?", "doc_id": "tea", "spans": [[7, 35]], "texts": ["Green tea takes two minutes."]}, [GREEN]),
        ({"question": "How long?", "context": "Green tea takes two minutes.\n"}, [GREEN]),
        # White space is none of the quote: the document breaks the line there.
        ({"question": "How long?", "quote": "Black tea takes four minutes."}, [("guides/tea.md", 37, 66)]),
    ],
)  # fmt: skip
def test_what_is_given_decides_the_label(tmp_path, line, expected):
    """Offsets, quotes, texts of chunks and ids of documents are each taken for what they are."""
    questions, refused = taken(write(tmp_path, "q.jsonl", json.dumps(line) + "\n"))

    assert refused == {}
    assert [places(question) for question in questions] == [expected]


def test_the_finest_label_counts_and_the_rest_is_kept(tmp_path):
    """A row with a quote, a context and a document is about the quote."""
    line = {"question": "How long?", "quote": "two minutes", "context": "Green tea takes two minutes.", "doc_id": "guides/tea.md", "team": "support"}  # fmt: skip
    (question,), _ = taken(write(tmp_path, "q.jsonl", json.dumps(line)))

    assert question.evidence[0].quote == "two minutes"
    assert question.provenance["metadata"] == {"context": "Green tea takes two minutes.", "team": "support"}


def test_who_asked_when_and_how_the_answer_was_liked_is_kept(tmp_path):
    """Source, feedback, date and every other column reach the golden set."""
    table = "Question;Quote;Source;Created at;Rating;Team\nHow long?;two minutes;production;2026-03-01;down;support\n"
    (question,), _ = taken(write(tmp_path, "q.csv", table))

    assert question.source == "production"
    assert question.provenance == {"date": "2026-03-01", "feedback": "down", "metadata": {"Team": "support"}}


@pytest.mark.parametrize(
    "row",
    [
        {"user_input": "How long?", "reference_contexts": ["Green tea takes two minutes."], "reference": "Two.", "synthesizer_name": "single_hop"},
        {"user_input": "How long?", "reference_contexts": ["<1-hop>\n\nGreen tea takes two minutes."], "synthesizer_name": "multi_hop"},
        {"question": "How long?", "contexts": ["Green tea takes two minutes."], "ground_truth": "Two.", "evolution_type": "simple", "metadata": [{"source": "x"}]},
        {"question": "How long?", "ground_truth_context": ["Green tea takes two minutes."], "ground_truth": ["Two."], "question_type": "simple"},
        {"eval_sample": {"user_input": "How long?", "reference_contexts": ["Green tea takes two minutes."]}, "synthesizer_name": "s", "approval_status": "approved"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "columns"])
def test_ragas_of_every_version(tmp_path, row, kind):
    """The columns of ragas before 0.1, of 0.1 and since 0.2, as its JSON lines, pandas's JSON and CSV write them."""
    header = ",".join(row)
    cells = ",".join('"' + str(value).replace('"', '""') + '"' for value in row.values())
    content = {
        "jsonl": json.dumps(row) + "\n",
        "json": [row],
        "csv": f"{header}\n{cells}\n",
        "columns": {key: {"0": value} for key, value in row.items()},
    }[kind]
    if kind == "csv" and "eval_sample" in row:
        return  # only written as JSON
    path = write(tmp_path, "testset.txt", content)
    (question,), refused = taken(path)

    assert refused == {}
    assert "ragas" in read(path).recognised
    assert places(question) == [GREEN]
    assert question.source == "synthetic"


def test_contexts_that_a_retriever_returned_are_no_evidence(tmp_path):
    """The rows of an evaluation look like a test set; taking what was found for what is right would score the retriever 1."""
    row = {
        "question": "How long?",
        "contexts": ["Green tea takes two minutes."],
        "answer": "Two.",
        "ground_truth": "Two.",
    }
    with pytest.raises(
        InputError, match=r"contexts beside answer and ground_truth: .*what a retriever returned"
    ):
        read(write(tmp_path, "q.jsonl", json.dumps(row)), forced="ragas")


def test_llama_index_pairs(tmp_path):
    """Queries, corpus and relevant_docs: the texts of the nodes become spans, ids of nodes mean nothing."""
    content = {
        "queries": {"a": "How long?", "b": "How much?"},
        "corpus": {"n1": "Green tea takes two minutes.", "n2": "Use 60 grams for each litre."},
        "relevant_docs": {"a": ["n1"], "b": ["n2", "n9"]},
        "mode": "text",
    }
    questions, refused = taken(write(tmp_path, "pairs.json", content))

    assert [(question.question_id, places(question)) for question in questions] == [("a", [GREEN])]
    assert refused == {"entry 2": 'a context is {"not in corpus": "n9"}; a text is expected.'}


def test_llama_index_examples(tmp_path):
    """A question of a LabelledRagDataset that a model wrote is synthetic, one that a person asked is not."""
    contexts = {"reference_contexts": ["Use 60 grams for each litre."], "reference_answer": "60 g"}
    examples = [
        {"query": "How much?", "query_by": {"type": "ai", "model_name": "m"}, **contexts},
        {"query": "How many grams?", "query_by": {"type": "human"}, **contexts},
    ]
    questions, refused = taken(write(tmp_path, "rag_dataset.json", {"examples": examples}))

    assert refused == {}
    assert [question.source for question in questions] == ["synthetic", "import"]
    assert [places(question) for question in questions] == [[GRAMS], [GRAMS]]
    assert questions[0].provenance["answer"] == "60 g"


TOPICS = {
    "sgml": "<top>\n<num> Number: 7\n<title> How long? &amp; why\n<desc> Description:\nx\n</top>\n<top><num>8<title>Unjudged</top>",
    "xml": '<topics><topic number="7"><query>How long? &amp; why</query></topic><topic number="8"><query>Unjudged</query></topic></topics>',
    "tsv": "7\tHow long? & why\n8\tUnjudged\n",
    "jsonl": '{"_id": "7", "text": "How long? & why"}\n{"_id": "8", "text": "Unjudged"}\n',
}
QRELS = {
    "trec": "7 0 coffee.md 2\n7 0 guides/tea.md 0\n9 0 coffee.md 1\n",
    "beir": "query-id\tcorpus-id\tscore\n7\tcoffee.md\t2\n7\tguides/tea.md\t0\n9\tcoffee.md\t1\n",
}


@pytest.mark.parametrize("topics", TOPICS)
@pytest.mark.parametrize("qrels", QRELS)
def test_topics_with_their_judgements(tmp_path, topics, qrels):
    """Grades are kept, a grade of 0 is a judgement against, unjudged topics are counted, judgements of no topic are refused."""
    path, judged = write(tmp_path, "topics.txt", TOPICS[topics]), write(tmp_path, "qrels.txt", QRELS[qrels])
    (question,), refused = taken(path, qrels=judged)

    assert (question.question_id, question.text) == ("7", "How long? & why")
    assert [(unit.doc_id, unit.grade, unit.start) for unit in question.evidence] == [("coffee.md", 2, None)]
    assert [(place.doc_id, place.grade) for place in question.not_relevant] == [("guides/tea.md", 0)]
    assert ("desc" in str(question.provenance)) == (topics == "sgml")
    assert list(refused) == ['topic "9"']
    assert read(path, qrels=judged).notes[0].startswith("1 without a judgement")


def test_a_beir_folder(tmp_path):
    """The folder alone is enough; another split is named when the wanted one is missing."""
    (tmp_path / "qrels").mkdir()
    write(tmp_path, "queries.jsonl", TOPICS["jsonl"])
    write(tmp_path, "qrels/dev.tsv", QRELS["beir"])

    assert [question.question_id for question in taken(tmp_path, split="dev")[0]] == ["7"]
    with pytest.raises(InputError, match="split=dev"):
        read(tmp_path)


def test_one_question_written_over_several_lines(tmp_path):
    """A JSON object is a question however it is laid out; brackets do not make JSON of a table."""
    row = {"question": "How much?", "quote": "60 grams"}

    assert len(taken(write(tmp_path, "q.json", json.dumps(row, indent=2)))[0]) == 1
    assert len(taken(write(tmp_path, "q.txt", "[1] How much?;60 grams\n[2] How long?;two minutes\n"))[0]) == 2


def test_rows_with_one_id_are_one_question(tmp_path):
    """One row for each document, as many sets are written; half of its evidence would be another question."""
    good = {
        "qid": "1",
        "question": "How long?",
        "doc_id": "guides/tea.md",
        "spans": [[7, 35]],
        "texts": ["Green tea takes two minutes."],
    }
    other = {
        "qid": "1",
        "question": "How long?",
        "doc_id": "coffee.md",
        "spans": [[0, 28]],
        "texts": ["Use 60 grams for each litre."],
    }
    lost = {**other, "texts": ["Milk is poured over it slowly and with care."]}

    def lines(*rows: object) -> str:
        return "".join(json.dumps(row) + "\n" for row in rows)

    (question,), _ = taken(write(tmp_path, "a.jsonl", lines(good, other)))
    nothing, refused = taken(write(tmp_path, "b.jsonl", lines(good, lost)))
    _, malformed = taken(write(tmp_path, "c.jsonl", lines(good, {"qid": "1", "question": "How long?"})))

    assert places(question) == [GREEN, GRAMS]
    assert nothing == []
    assert list(refused) == ["line 1", "line 2"]
    assert refused["line 1"] == "belongs to the question of line 2, which can't be used."
    assert refused["line 2"].startswith("LOST")
    assert "line 2 can't be used" in malformed["line 1"]


def test_same_text_without_ids_is_one_question(tmp_path):
    """Each question counts once, however many rows its evidence takes; ids say where that is not meant."""
    rows = ["How long?,two minutes", "How  long?,four minutes"]
    (one,), _ = taken(write(tmp_path, "q.csv", "question,quote\n" + "\n".join(rows)))
    two, _ = taken(write(tmp_path, "i.csv", f"id,question,quote\na,{rows[0]}\nb,{rows[1]}\n"))

    assert [unit.quote for unit in one.evidence] == ["two minutes", "four minutes"]
    assert [question.question_id for question in two] == ["a", "b"]


def test_an_ambiguous_quote_is_listed_with_its_places_and_a_chunk_is_not_ambiguous(tmp_path):
    """A quote must say which; a text that a chunker cut is as good anywhere, so its copies become alternatives."""
    _, refused = taken(write(tmp_path, "q.csv", "question,quote\nWhen?,Rinse after every shot.\n"))
    (question,), _ = taken(write(tmp_path, "c.csv", "question,context\nWhen?,Rinse after every shot.\n"))
    (chosen,), _ = taken(
        write(tmp_path, "s.csv", "question,quote,doc_id,start\nWhen?,Rinse after every shot.,coffee,55\n")
    )

    assert refused["line 2"].startswith("AMBIGUOUS")
    assert "coffee.md at 30, 55" in refused["line 2"]
    assert [place.start for place in question.evidence[0].places] == [30, 55]
    assert places(chosen) == [("coffee.md", 55, 78)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.csv", b"", "is empty"),
        ("q.csv", b" \n\n", "is empty"),
        ("q.xlsx", b"PK\x03\x04rest xl/workbook.xml", "an Excel workbook"),
        ("q.csv", b"question,quote\nCaf\xe9,x\n", "is not UTF-8"),
        ("q.csv", bytes(range(256)), "is not UTF-8, but"),
        ("q.csv", b"a,b,c\n1,2,3\n", "A question"),
        ("q.csv", b"question,answer\nHow long?,Two\n", "An answer is evidence only if"),
        ("q.csv", b"just one column\nof text\n", "two columns without a header"),
        ("q.json", b"[]", "no questions"),
        ("q.json", b'{\n"settings": 1\n}', "a JSON object with settings"),
        ("q.json", b'[\n {"question": "How?",\n "quote": "x"', "cut off"),
        ("qrels.txt", b"7 0 coffee.md 1\n8 0 coffee.md 1\n", "Give the topics first"),
    ],
)
def test_files_that_are_no_questions(tmp_path, name, content, said):
    """Whatever is given, the answer is a sentence that says what was expected."""
    (tmp_path / name).write_bytes(content)

    with pytest.raises(InputError, match=said):
        read(tmp_path / name)


def test_topics_without_judgements(tmp_path):
    """Topics alone say nothing about documents; the word that is missing is named."""
    with pytest.raises(SettingError, match="qrels=FILE"):
        read(write(tmp_path, "topics.txt", TOPICS["sgml"]))


@pytest.mark.parametrize(
    "line",
    ["[1, 2]", "{broken", '{"question": 3, "quote": "x"}', '{"question": "", "quote": "x"}', '{"question": "How?"}', '"text"',
     '{"question": "How?", "evidence": {}}', '{"question": "How?", "spans": [[3]], "doc_id": "coffee.md"}',
     '{"question": "How?", "doc_id": "coffee.md", "start": "a", "end": 9}', '{"question": "How?", "gold_id": 7}',
     '{"question": "How?", "evidence": [{"doc_id": "coffee.md", "grade": NaN}]}', '{"question": ["a"], "quote": "x"}',
     '{"question": "How?", "context": [3]}', '{"question": "How?", "quote": [3]}', '{"qid": [1], "question": "How?", "doc_id": "coffee.md"}'],
)  # fmt: skip
def test_a_bad_line_costs_only_itself(tmp_path, line):
    """What is wrong with one line is said of that line; the next is taken."""
    good = json.dumps({"question": "How much?", "quote": "60 grams"})
    questions, refused = taken(write(tmp_path, "q.jsonl", f"{line}\n{good}\n"))

    assert [question.text for question in questions] == ["How much?"]
    assert list(refused) == ["line 1"]
    assert refused["line 1"]


def test_every_format_is_documented():
    """The table of the page names each value of format=, and no other."""
    page = (Path(__file__).parents[3] / "docs" / "golden-sets.md").read_text(encoding="utf-8")
    table = page.split("| format | what is recognised |")[1].split("\n\n")[0]

    assert sorted(line.split("`")[1] for line in table.splitlines() if line.startswith("| `")) == sorted(
        FORMATS
    )
