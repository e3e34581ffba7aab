"""Questions into a set: the same is merged, another is added, nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import InputError, StoreError
from harness.golden.file import FileGolden
from harness.golden.question_json import as_object
from harness.questions.importing import (
    GivenRow,
    Refused,
    TableLayout,
    grouped,
    without_refused,
    write_rejected,
)
from harness.questions.importing.finding import find
from harness.questions.importing.known import known_questions
from harness.questions.importing.merging import MergedSet, merge
from harness.questions.importing.recognise import read
from harness.records import Document, Evidence, Question

TEXT = "Green tea takes two minutes. Black tea takes four. Rinse it. Rinse it.\n"
DOCUMENTS = (Document("tea.md", TEXT),)


def question(
    question_id: str = "", quote: str = "two minutes", text: str = "How long?", **more: object
) -> Question:
    """A question about a quote of the only document."""
    start = TEXT.index(quote)
    return Question(question_id, text, (Evidence("tea.md", start, start + len(quote), quote),), **more)


def write_lines(path: Path, lines: list[dict]) -> Path:
    """A golden file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def into(path: Path, *new: Question) -> MergedSet:
    """The merge of new questions into a file, and the file as it then is."""
    merged = merge(known_questions(path, DOCUMENTS, None), new, {})
    write_lines(path, [*merged.lines, *merged.added])
    return merged


def test_the_same_question_is_known_however_its_evidence_is_written(tmp_path):
    """A quote without offsets, white space at its ends, or an alternative that is the other's first: all one place."""
    path = write_lines(
        tmp_path / "golden.jsonl",
        [
            {"question": "How long?", "evidence": [{"quote": "two minutes"}]},
            {
                "question": "When?",
                "evidence": [
                    {"doc_id": "tea.md", "start": 51, "end": 60, "alternatives": [{"start": 61, "end": 70}]}
                ],
            },
        ],
    )
    merged = into(
        path,
        question("a", text=" How  long? "),
        question("b", "two minutes."),
        question("c", " two minutes"),
        question("d", "Rinse it.", "When?"),
    )

    assert merged.same == 3
    assert [line["question_id"] for line in merged.added] == ["b"]


def test_other_evidence_is_another_question_and_gets_another_id(tmp_path):
    """Text is no key; an id that is taken is replaced by one that follows from the content, and the given one is kept."""
    path = write_lines(tmp_path / "golden.jsonl", [as_object(question("a"))])
    merged = into(path, question("a", "takes four"), question("", "Black tea"))
    again = into(path, question("a", "takes four"), question("", "Black tea"))

    first, second = merged.added
    assert merged.renamed == {"a": first["question_id"]}
    assert first["provenance"] == {"given_id": "a"}
    assert first["question_id"] != second["question_id"]
    assert (again.same, again.changed, again.added) == (2, 0, [])


def test_a_merge_adds_what_is_missing_and_keeps_both_where_they_differ(tmp_path):
    """A user who asked what a model had written: the question becomes the user's, and the model's words stay."""
    line = as_object(question("a", source="synthetic", provenance={"model": "m", "date": "1"})) | {
        "answer": "Two.",
        "kind": "fact",
    }
    path = write_lines(tmp_path / "golden.jsonl", [line])
    asked = question("b", source="production", provenance={"date": "2", "feedback": "up"})
    merged = into(path, asked)
    again = into(path, asked)

    assert merged.lines == [
        line
        | {
            "source": "production",
            "provenance": {
                "model": "m",
                "date": "1",
                "feedback": "up",
                "also": [{"date": "2", "question_id": "b", "source": "synthetic"}],
            },
        }
    ]
    assert (again.same, again.changed) == (1, 0)


def test_lines_without_an_id_keep_the_one_that_they_had(tmp_path):
    """Their id is their line's number; when the file is rewritten it is written down."""
    path = tmp_path / "golden.jsonl"
    path.write_text('\n{"question": "How long?", "evidence": [{"quote": "two minutes"}]}\n', encoding="utf-8")
    before = FileGolden(str(path)).load(DOCUMENTS).questions[0].question_id
    into(path, question("x", provenance={"date": "1"}))

    assert FileGolden(str(path)).load(DOCUMENTS).questions[0].question_id == before == "q0002"


def test_a_file_that_a_sweep_would_refuse_is_not_added_to(tmp_path):
    """A broken line is named; adding below it would hide it."""
    path = tmp_path / "golden.jsonl"
    path.write_text('{"question": "How?", "evidense": []}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"golden\.jsonl:1: unknown key"):
        known_questions(path, DOCUMENTS, None)
    path.write_text("{}\n", encoding="utf-16")
    with pytest.raises(InputError, match="UTF-16"):
        known_questions(path, DOCUMENTS, None)


PLACES = st.builds(
    Evidence,
    doc_id=st.just("tea.md"),
    start=st.integers(0, 3),
    end=st.integers(5, 8),
    grade=st.integers(1, 2),
).map(
    lambda place: Evidence(place.doc_id, place.start, place.end, TEXT[place.start : place.end], place.grade)
)
QUESTIONS = st.builds(
    Question,
    question_id=st.sampled_from(["", "a", "b", "q-1"]),
    text=st.sampled_from(["How?", "Why?"]),
    evidence=st.lists(PLACES, min_size=1, max_size=2, unique_by=lambda place: (place.start, place.end)).map(
        tuple
    ),
    source=st.sampled_from(["import", "production", "synthetic"]),
    provenance=st.dictionaries(
        st.sampled_from(["date", "answer", "feedback"]), st.integers(0, 2), max_size=2
    ),
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(QUESTIONS, max_size=6), st.lists(QUESTIONS, max_size=6))
def test_nothing_is_lost_and_twice_is_once(tmp_path_factory, first, second):
    """After any two merges every text with its evidence and all its provenance is in the set, and the same again changes nothing."""
    path = tmp_path_factory.mktemp("set") / "golden.jsonl"
    into(path, *first)
    into(path, *second)
    again = into(path, *first, *second)
    ids = [line["question_id"] for line in again.lines]

    assert (again.added, again.changed) == ([], 0)
    assert len(ids) == len(set(ids))
    for wanted in [*first, *second]:
        quotes = {unit.quote.strip() for unit in wanted.evidence}
        line = next(
            line
            for line in again.lines
            if line["question"] == wanted.text and {p["quote"].strip() for p in line["evidence"]} == quotes
        )
        said = [line.get("provenance", {}), *line.get("provenance", {}).get("also", [])]
        assert all(any(item.get(key) == value for item in said) for key, value in wanted.provenance.items())


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["How long?", "", "Why, then?", 'Say "why"?', "Two\nlines?", "  ", "Ünï?"]),
        st.sampled_from(
            ["two minutes", "Rinse it.", "", "not there at all, never was", "takes\n\nfour", "tea", "[1]"]
        ),
        st.sampled_from(["", "tea.md", "tea", "milk.md"]),
        st.sampled_from(["", "", "1", "2"]),
    ),
    min_size=1,
    max_size=8,
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(ROWS, st.sampled_from(",;\t"))
def test_every_row_is_in_the_set_or_among_the_rejected(tmp_path_factory, rows, delimiter):
    """And the file of the rejected, added as it is, is rejected row by row as before."""
    import csv

    folder = tmp_path_factory.mktemp("given")
    path = folder / "q.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["question", "quote", "doc_id", "qid"])
        writer.writerows(rows)
    questions, refused, layout = _taken(path)
    texts = {
        (item.text, unit.quote and " ".join(unit.quote.split()))
        for item in questions
        for unit in item.evidence
    }
    cells = [row.row.given for row in refused]

    for text, quote, doc_id, qid in rows:
        if any(cell.strip() for cell in (text, quote, doc_id, qid)):
            in_set = (text.strip(), " ".join(quote.split())) in texts or (text.strip(), None) in texts
            assert in_set or [text, quote, doc_id, qid] in cells
    if refused:
        again = _taken(write_rejected(refused, layout, path))
        assert [row.row.given for row in again[1]] == cells
        assert again[0] == []


def _taken(path: Path) -> tuple[list[Question], list[Refused], TableLayout | None]:
    given_rows = read(path)
    whole, refused = without_refused(given_rows.questions, given_rows.refused)
    found = find(grouped(whole), DOCUMENTS)
    return (
        found.questions,
        sorted([*refused, *found.refused], key=lambda row: row.row.number),
        given_rows.layout,
    )


def test_corrections_are_never_overwritten(tmp_path):
    """A rejected file that was changed by hand stays; the same content is written once."""
    refused = [Refused(GivenRow(0, "line 1", {"question": "How?"}), "no evidence")]
    first = write_rejected(refused, None, tmp_path / "q.jsonl")
    same = write_rejected(refused, None, tmp_path / "q.jsonl")
    first.write_text('{"question": "How?", "quote": "two minutes"}\n', encoding="utf-8")
    second = write_rejected(refused, None, tmp_path / "q.jsonl")

    assert (first.name, same, second.name) == ("q.rejected.jsonl", first, "q.rejected-2.jsonl")
    assert write_rejected(refused, None, tmp_path / "q.rejected.jsonl") == second
    assert "two minutes" in first.read_text(encoding="utf-8")


def test_rows_that_are_no_rows_come_back_too(tmp_path):
    """Too many cells, a line that is no JSON: as they stood, and refused again until they are mended."""
    (tmp_path / "q.csv").write_text("question,quote\nHow?,two minutes,too,many\n", encoding="utf-8")
    _, refused, layout = _taken(tmp_path / "q.csv")
    table = write_rejected(refused, layout, tmp_path / "q.csv")
    (tmp_path / "q.jsonl").write_text(
        '{"question": "How?", oops\n{"question": "a", "quote": "tea"}\n', encoding="utf-8"
    )
    _, broken, _ = _taken(tmp_path / "q.jsonl")
    lines = write_rejected(broken, None, tmp_path / "q.jsonl")

    assert table.read_text(encoding="utf-8-sig").splitlines()[1].startswith("How?,two minutes,")
    assert table.read_text(encoding="utf-8-sig").endswith(",too,many\n")
    assert [row.row.given for row in _taken(table)[1]] == [["How?", "two minutes", "too", "many"]]
    assert (
        json.loads(lines.read_text(encoding="utf-8").splitlines()[0])["unreadable"]
        == '{"question": "How?", oops'
    )
    assert len(_taken(lines)[1]) == 2


def test_a_place_where_nothing_can_be_written(tmp_path):
    """The questions are in the set by then; the sentence says so, and what to do."""
    with pytest.raises(StoreError, match="rejected=FILE"):
        write_rejected([Refused(GivenRow(0, "line 1", "x"), "y")], None, tmp_path / "missing" / "q.jsonl")
