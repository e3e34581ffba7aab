"""Public data sets and test sets whose questions name passages, each file as its publisher writes it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from named import refused, rows, write

from harness.errors import InputError
from harness.questions.importing import grouped
from harness.questions.importing.finding import find
from harness.questions.importing.recognise import named_rows, read
from harness.records import Document

# Three sentences; the first has a full stop inside.
CONTEXT = "Dr. Ada Hahn founded the mill in Ulm in 1871. It burnt down in 1903 (nobody knows why). A museum has stood there since 1990. "
FOUNDED = "Dr. Ada Hahn founded the mill in Ulm in 1871."
BURNT = "It burnt down in 1903 (nobody knows why)."
DOCUMENTS = (
    Document("mill.md", "# The mill\n\n" + CONTEXT + "\n", position=0),
    Document("terms/nda.txt", "The term is two years.\nEither party may end it.\n", position=1),
)


def found(path: Path) -> dict[str, list[list[tuple[str, int | None, str | None]]]]:
    """The places of each question's evidence in the documents, alternatives beside it."""
    given = read(path)
    located = find(grouped(given.questions), DOCUMENTS)
    assert not [*given.refused, *located.refused]
    return {
        question.text: [[(p.doc_id, p.start, p.quote) for p in unit.places] for unit in question.evidence]
        for question in located.questions
    }


def squad(*questions: dict) -> dict:
    """A SQuAD file with one paragraph."""
    return {
        "version": "v2.0",
        "data": [{"title": "Mill", "paragraphs": [{"context": CONTEXT, "qas": list(questions)}]}],
    }


def answer(text: str, start: int | None = None) -> dict:
    """An answer where it stands first."""
    return {"text": text, "answer_start": CONTEXT.index(text) if start is None else start}


def test_squad(tmp_path):
    """1871 stands in the first sentence; two answers in two sentences are alternatives, two in one are one."""
    path = write(
        tmp_path,
        "dev-v2.0.json",
        squad(
            {"id": "a", "question": "When was it founded?", "answers": [answer("1871"), answer("in 1871")], "is_impossible": False},
            {"id": "b", "question": "When did it end?", "answers": [answer("1903"), answer("1990")], "is_impossible": False},
        ),
    )  # fmt: skip
    first, second = rows(path)

    assert named_rows(path)[1] == "SQuAD; the evidence is the sentence of the answer (JSON)"
    assert (first["id"], first["title"], first["answer"]) == ("a", "Mill", "1871")
    assert first["evidence"] == [{"quote": FOUNDED}]
    assert second["evidence"] == [
        {"quote": BURNT, "alternatives": [{"quote": "A museum has stood there since 1990."}]}
    ]
    at = len("# The mill\n\n")
    assert found(path) == {
        "When was it founded?": [[("mill.md", at + CONTEXT.index(FOUNDED), FOUNDED)]],
        "When did it end?": [[("mill.md", at + CONTEXT.index("It burnt"), BURNT), ("mill.md", at + CONTEXT.index("A museum"), "A museum has stood there since 1990.")]],
    }  # fmt: skip


def test_squad_without_an_answer(tmp_path):
    """A question that the paragraph does not answer has no evidence; it is a question all the same."""
    (row,) = rows(write(tmp_path, "v2.json", squad({"id": "a", "question": "Who burnt it?", "answers": [], "plausible_answers": [answer("nobody")], "is_impossible": True})))  # fmt: skip

    assert row["evidence"] == []


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "viewer"])
def test_squad_as_hugging_face_has_it(tmp_path, kind):
    """One question a row, answers as columns; without answers it is one that can't be answered."""
    table = [
        {"id": "a", "title": "Mill", "context": CONTEXT, "question": "When?", "answers": {"text": ["1871"], "answer_start": [CONTEXT.index("1871")]}},
        {"id": "b", "title": "Mill", "context": CONTEXT, "question": "Why?", "answers": {"text": [], "answer_start": []}},
    ]  # fmt: skip
    if kind == "parquet":
        path = tmp_path / "train-00000-of-00001.parquet"
        pq.write_table(pa.Table.from_pylist(table), path)
    elif kind == "viewer":
        path = write(
            tmp_path, "rows.json", {"features": [], "rows": [{"row_idx": 0, "row": row} for row in table]}
        )
    else:
        path = write(tmp_path, "q.jsonl", "".join(json.dumps(row) + "\n" for row in table))

    assert [row["evidence"] for row in rows(path)] == [[{"quote": FOUNDED}], []]


def test_squad_with_a_wrong_offset(tmp_path):
    """A text that stands there once is found; one that stands nowhere is refused, and so is a set without answers."""
    path = write(
        tmp_path,
        "s.json",
        squad(
            {"id": "a", "question": "When?", "answers": [answer("1871", 3)]},
            {"id": "b", "question": "Who?", "answers": [answer("Paul", 3)]},
            {"id": "c", "question": "Where?", "answers": [], "is_impossible": False},
            {"id": "d", "question": "Which?", "answers": [{"text": " ", "answer_start": 3}]},
            {"id": "e", "question": "Which?", "answers": [{"text": 7, "answer_start": "x"}]},
        ),
    )

    assert [row["evidence"] for row in rows(path)] == [[{"quote": FOUNDED}]]
    assert refused(path) == {
        "entry 2": 'the answer "Paul" does not stand at 3 of its context.',
        "entry 3": "answers, each with text and answer_start, are expected.",
        "entry 4": 'the answer " " does not stand at 3 of its context.',
        "entry 5": "it has the keys of the format squad, but not its values.",
    }


def test_a_quote_beside_a_refused_row_corrects_it(tmp_path):
    """The row keeps its shape when it is written again; what a person adds to it counts."""
    row = {"id": "a", "title": "Mill", "context": "It began in 1871.", "question": "When?", "answers": [{"text": "1871", "answer_start": 12}], "quote": FOUNDED}  # fmt: skip

    assert [unit[0][2] for unit in found(write(tmp_path, "s.rejected.jsonl", json.dumps(row)))["When?"]] == [
        FOUNDED
    ]


def test_a_sentence_that_stands_twice_in_its_paragraph_takes_its_neighbours(tmp_path):
    """The answer's sentence occurs twice: with the sentences beside it, the quote is one place."""
    context = "It rained. Then came snow. It rained. Then came sun."
    content = {"data": [{"title": "W", "paragraphs": [{"context": context, "qas": [{"id": "1", "question": "What came second?", "answers": [{"text": "rained", "answer_start": 30}]}]}]}]}  # fmt: skip

    assert rows(write(tmp_path, "s.json", content))[0]["evidence"] == [
        {"quote": "Then came snow. It rained. Then came sun."}
    ]


def test_legalbench_rag(tmp_path):
    """Files, spans and their texts become evidence with offsets; tags are kept."""
    snippet = {"file_path": "terms/nda.txt", "span": [0, 22], "answer": "The term is two years."}
    content = {"tests": [{"query": "How long is the term?", "snippets": [snippet], "tags": ["contractnli"]}]}
    path = write(tmp_path, "contractnli.json", content)

    assert named_rows(path)[1] == "LegalBench-RAG (JSON)"
    assert rows(path)[0]["tags"] == ["contractnli"]
    assert found(path) == {"How long is the term?": [[("terms/nda.txt", 0, "The term is two years.")]]}
    broken = {"tests": [*content["tests"], {"query": "x", "snippets": [{"file_path": "a", "span": 3}]}]}
    assert refused(write(tmp_path, "b.json", broken)) == {
        "entry 2": "it has the keys of the format legalbench_rag, but not its values."
    }


def test_trulens(tmp_path):
    """Chunks are texts to be found; a score is their grade."""
    path = write(
        tmp_path,
        "golden.json",
        [
            {"query": "How long?", "expected_response": "Two years", "expected_chunks": [{"text": "The term is two years.", "title": "NDA"}]},
            {"query": "Who?", "query_id": "2", "expected_chunks": ["Either party may end it."]},
            {"query": "What?", "expected_chunks": [{"text": "The term is two years.", "expected_score": 0.8}, {"text": "x", "expected_score": 0}]},
        ],
    )  # fmt: skip
    first, second, third = rows(path)

    assert named_rows(path)[1] == "questions with expected chunks, as of TruLens and MLflow (JSON)"
    assert (first["reference_contexts"], first["answer"]) == (["The term is two years."], "Two years")
    assert (second["reference_contexts"], second["query_id"]) == (["Either party may end it."], "2")
    assert third["evidence"] == [
        {"quote": "The term is two years.", "grade": 0.8},
        {"quote": "x", "grade": 0},
    ]


def test_mlflow(tmp_path):
    """Expected contexts with a text are found by it; those without name documents."""
    lines = [
        {"inputs": {"question": "How long?"}, "expectations": {"expected_response": "Two years", "expected_retrieved_context": [{"doc_uri": "x", "content": "The term is two years."}]}},
        {"inputs": {"question": "Where?"}, "expectations": {"expected_retrieved_context": [{"doc_uri": "terms/nda.txt"}]}},
    ]  # fmt: skip
    path = write(tmp_path, "set.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    assert found(path) == {
        "How long?": [[("terms/nda.txt", 0, "The term is two years.")]],
        "Where?": [[("terms/nda.txt", None, None)]],
    }


@pytest.mark.parametrize(
    "row",
    [
        {"request": "How long?", "expected_response": "2", "expected_retrieved_context": [{"content": "The term is two years."}]},
        {"query_id": "1", "query": "How long?", "positive_passages": [{"docid": "7", "title": "NDA", "text": "The term is two years."}], "negative_passages": []},
        {"question": "How long?", "answers": ["2"], "positive_ctxs": [{"title": "NDA", "text": "The term is two years."}]},
    ],
)  # fmt: skip
def test_passages_that_are_right(tmp_path, row):
    """Databricks, MIRACL, DPR: the text of a passage is what is looked for."""
    assert found(write(tmp_path, "q.json", [row])) == {
        "How long?": [[("terms/nda.txt", 0, "The term is two years.")]]
    }


def test_giskard(tmp_path):
    """Its joined documents are taken apart; a question out of scope has no evidence."""
    context = "Document 12: The term is two years.\n\nDocument ab-3: Either party may end it."
    lines = [
        {"id": "1", "question": "How long?", "reference_answer": "2", "reference_context": context, "conversation_history": [], "metadata": {"question_type": "simple", "seed_document_id": "12"}},
        {"id": "2", "question": "Who is the king?", "reference_answer": "-", "reference_context": context, "conversation_history": [], "metadata": {"question_type": "out of scope"}},
    ]  # fmt: skip
    path = write(tmp_path, "test_set.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    first, second = rows(path)

    assert named_rows(path)[1] == "a Giskard test set (JSON lines)"
    assert first["reference_contexts"] == ["The term is two years.", "Either party may end it."]
    assert first["source"] == "synthetic"
    assert second["evidence"] == []


def test_autorag(tmp_path):
    """Groups of ids: inside a group any is enough, of groups all are needed."""
    table = [
        {
            "qid": "1",
            "query": "How long?",
            "retrieval_gt": [["mill.md", "terms/nda.txt"], ["terms/nda.txt"]],
            "generation_gt": ["2"],
        }
    ]
    path = tmp_path / "qa.parquet"
    pq.write_table(pa.Table.from_pylist(table), path)

    assert (
        named_rows(path)[1] == "AutoRAG's questions; the documents must have the ids of its corpus (Parquet)"
    )
    assert rows(path)[0]["evidence"] == [
        {"doc_id": "mill.md", "alternatives": [{"doc_id": "terms/nda.txt"}]},
        {"doc_id": "terms/nda.txt"},
    ]
    pq.write_table(pa.Table.from_pylist([{**table[0], "retrieval_gt": [["terms/nda.txt"]]}]), path)
    assert found(path) == {"How long?": [[("terms/nda.txt", None, None)]]}


def test_a_damaged_parquet_file(tmp_path):
    """A sentence, not the library's trace."""
    path = tmp_path / "q.parquet"
    path.write_bytes(b"PAR1" + bytes(40))

    with pytest.raises(InputError, match="a Parquet file that can't be read"):
        read(path)
