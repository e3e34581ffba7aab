"""Test sets of evaluation tools, each as its tool writes it; results of retrievers are never labels."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.errors import InputError
from harness.questions.importing import columns
from harness.questions.importing.recognise import FORMATS, SHAPES, named_rows, read

FIRST, SECOND = "Green tea takes two minutes.", "Black tea takes four minutes."


def rows(path: Path, forced: str | None = None) -> list[dict]:
    """The rows of a file under our names."""
    return [dict(fields) for _, fields in named_rows(path, forced)[0].rows.named]


def write(tmp_path: Path, name: str, content: object) -> Path:
    """A file with this text, or this value as JSON."""
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(*items: dict) -> str:
    """JSON lines."""
    return "".join(json.dumps(item) + "\n" for item in items)


EXAMPLE = {
    "id": "3f2a",
    "inputs": {"question": "How long?"},
    "outputs": {"answer": "2", "reference_contexts": [FIRST]},
    "metadata": {"split": ["base"]},
    "created_at": "2026-01-01",
}


@pytest.mark.parametrize(
    "content",
    [
        lines(EXAMPLE),
        lines(EXAMPLE, EXAMPLE),
        [EXAMPLE],
        json.dumps(EXAMPLE, indent=1),
        {"examples": [EXAMPLE]},
    ],
)
def test_langsmith(tmp_path, content):
    """One line is one example, not two columns; what is inside inputs and outputs comes out."""
    path = write(tmp_path, "dataset.jsonl", content)
    row = rows(path)[0]

    assert named_rows(path)[1].startswith("examples with inputs and outputs, as LangSmith writes them (JSON")
    assert len(rows(path)) == str(content).count("3f2a")
    assert row == {
        "id": "3f2a",
        "question": "How long?",
        "answer": "2",
        "reference_contexts": [FIRST],
        "metadata": {"split": ["base"]},
        "created_at": "2026-01-01",
    }


@pytest.mark.parametrize(
    "table",
    [
        'id,inputs,outputs,metadata\n3f,"{""question"": ""How long?""}","{""answer"": ""2"", ""doc_id"": ""tea.md""}",{}\n',
        "id,inputs.question,outputs.answer,outputs.doc_id\n3f,How long?,2,tea.md\n",
        "id,input_question,output_answer,metadata_doc_id\n3f,How long?,2,tea.md\n",
    ],
)
def test_langsmith_as_a_table(tmp_path, table):
    """Objects in cells, or a column for each value."""
    (row,) = rows(write(tmp_path, "dataset.csv", table))

    assert {key: row[key] for key in ("id", "question", "answer", "doc_id")} == {"id": "3f", "question": "How long?", "answer": "2", "doc_id": "tea.md"}  # fmt: skip


@pytest.mark.parametrize(
    "example",
    [
        {
            "id": "1",
            "input": {"query": "How long?"},
            "output": {"answer": "2"},
            "metadata": {"doc_id": "tea.md"},
        },
        {
            "input": "How long?",
            "expectedOutput": "2",
            "metadata": {"relevant_doc_ids": ["tea.md"]},
            "context": None,
        },
        {"inputs": {"input": "How long?", "doc_id": "tea.md"}},
        {"input": "How long?", "expected": "2", "metadata": {"doc_id": "tea.md"}},
        {
            "inputs": {
                "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "How long?"}]
            },
            "outputs": {"doc_id": "tea.md"},
        },
    ],
)
def test_phoenix_langfuse_and_the_like(tmp_path, example):
    """A label that stands in the metadata alone is one."""
    row = rows(write(tmp_path, "q.jsonl", lines(example)))[0]

    assert row["question"] == "How long?"
    assert row.get(
        "doc_id", row.get("relevant_doc_ids", row.get("metadata", {}).get("relevant_doc_ids"))
    ) in ("tea.md", ["tea.md"])


def test_an_example_without_a_question(tmp_path):
    """The inputs are named, so that the right one can be renamed."""
    path = write(
        tmp_path, "q.jsonl", lines(EXAMPLE, {"inputs": {"topic": "tea", "n": 3}, "outputs": {"doc_id": "a"}})
    )
    (found,) = named_rows(path)[0].rows.refused

    assert (found.row.where, found.reason) == (
        "line 2",
        "no question among the inputs topic, n; name it question.",
    )


GOLDEN = {
    "input": "How long?",
    "actual_output": None,
    "expected_output": "2",
    "context": [FIRST, SECOND],
    "retrieval_context": None,
    "source_file": "tea.md",
}


def test_deepeval(tmp_path):
    """Contexts as a list or joined by a bar; what a retriever returned is kept, not taken."""
    path = write(tmp_path, "goldens.json", [GOLDEN, {**GOLDEN, "retrieval_context": ["something else"]}])
    table = f"input,actual_output,expected_output,retrieval_context,context,source_file\nHow long?,,2,,{FIRST}|{SECOND},tea.md\n"

    assert named_rows(path)[1] == "goldens of DeepEval (JSON)"
    for row in (*rows(path), *rows(write(tmp_path, "goldens.csv", table))):
        assert (row["question"], row["reference_contexts"]) == ("How long?", [FIRST, SECOND])
        assert (row["expected_output"], row["source_file"]) == ("2", "tea.md")
    assert rows(path)[1]["metadata"] == {"retrieval_context": ["something else"]}


def test_deepeval_with_results_alone_and_dialogues(tmp_path):
    """Neither has evidence for a question: the file is refused, with the columns named."""
    with pytest.raises(InputError, match=r"retrieval_context.* what a retriever returned"):
        named_rows(write(tmp_path, "a.json", [{**GOLDEN, "context": None, "retrieval_context": [FIRST]}]))
    with pytest.raises(InputError, match="dialogues of several turns"):
        named_rows(write(tmp_path, "b.json", [{"scenario": "s", "expected_outcome": "o", "turns": []}]))


PROMPTFOO = """
prompts: [file://prompt.txt]
providers: [openai:gpt]
tests:
  - vars:
      query: How long?
      context: Green tea takes two minutes.
    assert:
      - type: context-recall
        value: two minutes
  - description: a document
    vars:
      question: How much?
      context: file://docs/tea.md
"""


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_promptfoo(tmp_path, kind):
    """The variables hold question and context; a file is a document."""
    tests = [
        {
            "vars": {"query": "How long?", "context": FIRST},
            "assert": [{"type": "context-recall", "value": "two minutes"}],
        },
        {"description": "a document", "vars": {"question": "How much?", "context": "file://docs/tea.md"}},
    ]
    path = write(tmp_path, f"promptfooconfig.{kind}", PROMPTFOO if kind == "yaml" else {"tests": tests})
    first, second = rows(path)

    assert named_rows(path)[1] == f"tests of promptfoo ({kind.upper()})"
    assert (first["question"], first["context"], first["assert"]) == ("How long?", FIRST, tests[0]["assert"])
    assert (second["question"], second["doc_id"], second["description"]) == (
        "How much?",
        "docs/tea.md",
        "a document",
    )


def test_broken_yaml(tmp_path):
    """The reader's own words, in one sentence."""
    with pytest.raises(InputError, match=r"q\.yaml:1: not valid YAML \("):
        named_rows(write(tmp_path, "q.yaml", "tests: [a, {b"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": "How?", "question_type": "simple", "answer": "a", "ground_truth": "g", "contexts": [FIRST]}, "contexts beside answer and ground_truth"),
        ({"user_input": "How?", "retrieved_contexts": [FIRST], "response": "a", "reference": "g"}, "retrieved_contexts beside response"),
        ({"question": "How?", "contexts": [FIRST], "ground_truths": ["g"]}, "contexts beside ground_truths"),
        ({"question": "How?", "contexts": [FIRST], "ground_truth": "g", "answer": "a", "evolution_type": "simple"}, "contexts beside"),
        ({"query": "How?", "response": "a", "context": FIRST, "ground_truth": "g"}, "context beside response and ground_truth"),
        ({"question": "How?", "retrieved_chunks": [FIRST]}, "retrieved_chunks: this is what a retriever returned"),
        ({"inputs": {"question": "How?"}, "outputs": {"answer": "a", "contexts": [FIRST]}}, "contexts beside answer"),
        ({"query": "How?", "doc_id": "a.md", "rank": 1, "score": 0.3}, "a ranking: what a retriever returned"),
    ],
)  # fmt: skip
def test_results_are_not_labels(tmp_path, row, said):
    """A file of results is refused whole; among other rows only such rows are."""
    good = {"question": "How much?", "quote": "60 grams"}
    with pytest.raises(InputError, match=said):
        read(write(tmp_path, "results.jsonl", lines(row, row)))
    if "inputs" not in row:
        header, cells = (
            ",".join(row),
            ",".join('"' + str(value).replace('"', '""') + '"' for value in row.values()),
        )
        with pytest.raises(InputError, match=said):
            read(write(tmp_path, "results.csv", f"{header}\n{cells}\n"))
    mixed = read(write(tmp_path, "mixed.jsonl", lines(row, good)))

    assert [question.text for question in mixed.questions] == ["How much?"]
    assert [found.row.where for found in mixed.refused] == ["line 1"]
    assert said in mixed.refused[0].reason


def test_results_beside_labels_are_kept_with_the_question(tmp_path):
    """What was right counts; what came back is metadata."""
    row = {
        "question": "How?",
        "contexts": [SECOND],
        "answer": "a",
        "reference_contexts": [FIRST],
        "metadata": {"n": 1},
    }
    path = write(tmp_path, "q.jsonl", lines(row))
    (question,) = read(path).questions

    assert rows(path)[0]["reference_contexts"] == [FIRST]
    assert question.provenance == {"answer": "a", "metadata": {"n": 1, "contexts": [SECOND]}}


@pytest.mark.parametrize(
    "row",
    [
        {"question": "How?", "question_type": "simple", "context": FIRST},
        {"question": "How?", "user_input": "x", "quote": FIRST},
        {"question": "How?", "contexts": [FIRST]},
    ],
)
def test_one_common_name_proves_nothing(tmp_path, row):
    """None of these is from ragas, and none is synthetic."""
    found, kind = named_rows(write(tmp_path, "q.jsonl", lines(row)))

    assert kind == "JSON lines"
    assert found.rows.named[0][1] == row


@pytest.mark.parametrize("key", ["gold_doc_ids", "expected_sources", "expectedSources", "relevant documents"])
def test_documents_under_the_names_that_teams_give(tmp_path, key):
    """A list of ids, or a text with semicolons."""
    for given in (["tea.md", "coffee.md"], "tea.md; coffee.md"):
        (question,) = read(write(tmp_path, "q.jsonl", lines({"question": "How?", key: given}))).questions
        assert [place.doc_id for place in question.evidence] == ["tea.md", "coffee.md"]


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("['Green tea.' 'Black tea.']", ("Green tea.", "Black tea.")),
        (
            "['Green tea.'\n 'It\\'s \"black\".'\n \"It's white.\"]",
            ("Green tea.", 'It\'s "black".', "It's white."),
        ),
        ("['Green tea.', 'Black tea.']", ("Green tea.", "Black tea.")),
        ("['Green tea.']", ("Green tea.",)),
        ("[1] Green tea.", ("[1] Green tea.",)),
        ("[ 1 20\n 0.5]", (1, 20, 0.5)),
    ],
)
def test_an_array_that_was_printed_into_a_cell(tmp_path, cell, texts):
    """Python would join 'a' 'b' into one text; NumPy means two."""
    path = write(tmp_path, "q.csv", 'question,reference_contexts\nHow?,"' + cell.replace('"', '""') + '"\n')

    assert tuple(columns.texts(rows(path)[0]["reference_contexts"])) == texts


def test_ragas_as_parquet(tmp_path):
    """As pandas writes a test set."""
    path = tmp_path / "testset.parquet"
    pq.write_table(pa.Table.from_pylist([{"user_input": "How?", "reference_contexts": [FIRST], "reference": "2", "synthesizer_name": "s"}]), path)  # fmt: skip
    (question,) = read(path).questions

    assert named_rows(path)[1] == "a ragas test set (Parquet)"
    assert (rows(path)[0]["reference_contexts"], question.source) == ([FIRST], "synthetic")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            lines({"prompt": "How?", "contxts": ["x"]}),
            r"it has prompt, contxts\. .*Did you mean contexts by contxts\?",
        ),
        (
            lines({"question": "How?", "answer": "x"}),
            r"it has question, answer\. .*An answer is evidence only if",
        ),
        ([{"question": "How?", "Relevant-Docs": ["a"], "x": 1}, {"foo": 1}], None),
        (lines({"trace_id": "1", "span_id": "2", "name": "x"}), "traces of an application"),
        (
            {"took": 3, "hits": {"hits": [{"_id": "1", "_source": {"text": "x"}}]}},
            "what a search engine found",
        ),
        ({"resourceSpans": [{"scopeSpans": []}]}, "traces of an application"),
        (lines({"_index": "p", "_id": "1", "_source": {"text": "x"}}), "a dump of an index.*corpus=jsonl"),
    ],
)
def test_rows_without_a_known_key_say_which_keys_they_have(tmp_path, content, said):
    """As tables do, with the nearest known name; one good row among them is taken."""
    path = write(tmp_path, "q.jsonl", content)
    if said is None:
        (found,) = named_rows(path)[0].rows.refused
        assert (found.row.where, found.reason[:12]) == ("entry 2", "it has foo. ")
        return
    with pytest.raises(InputError, match=said):
        read(path)


@pytest.mark.parametrize(
    "content",
    [
        {"a": {"question": "How?", "doc_id": "x"}, "b": {"question": "Why?", "doc_id": "y", "n": 1}},
        {"question_id": {"0": "a", "1": "b"}, "question": {"0": "How?", "1": "Why?"}, "doc_id": {"0": "x", "1": "y"}},
        {"question_id": ["a", "b"], "question": ["How?", "Why?"], "doc_id": ["x", "y"]},
        {"columns": ["question_id", "question", "doc_id"], "index": [0, 1], "data": [["a", "How?", "x"], ["b", "Why?", "y"]]},
        {"schema": {"fields": []}, "data": [{"question_id": "a", "question": "How?", "doc_id": "x"}, {"question_id": "b", "question": "Why?", "doc_id": "y"}]},
    ],
)  # fmt: skip
def test_rows_by_id_and_the_ways_pandas_writes_json(tmp_path, content):
    """Five objects with the same two questions."""
    questions = read(write(tmp_path, "q.json", content)).questions

    assert [(q.question_id, q.text, q.evidence[0].doc_id) for q in questions] == [
        ("a", "How?", "x"),
        ("b", "Why?", "y"),
    ]


def test_a_format_can_be_forced(tmp_path):
    """format=jsonl leaves the keys as they are; a shape that no row has is named."""
    path = write(tmp_path, "q.jsonl", lines({"query": "How?", "doc_id": "a.md", "rating": "up"}))

    assert set(FORMATS) >= {"csv", "pairs", "jsonl", "trec", "beir", *(shape.name for shape in SHAPES)}
    assert rows(path, "jsonl") == [{"query": "How?", "doc_id": "a.md", "rating": "up"}]
    with pytest.raises(InputError, match="is not LegalBench-RAG"):
        named_rows(path, "legalbench_rag")
