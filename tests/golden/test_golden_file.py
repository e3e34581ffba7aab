from __future__ import annotations

import json

import pytest

from harness.errors import InputError, SettingError
from harness.golden.file import FileGolden
from harness.records import Document, Evidence

DOCUMENTS = [
    Document("a.md", "Refunds take thirty days. Ask billing first.", position=0),
    Document("b.md", "The plan costs 12 euros. Refunds take thirty days. Yes.", position=2),
]
GOOD = {
    "question": "How long?",
    "evidence": [{"doc_id": "a.md", "start": 0, "end": 25, "quote": "Refunds take thirty days."}],
}


def load(tmp_path, *lines, documents=DOCUMENTS, ending="\n", encoding="utf-8", **settings):
    path = tmp_path / "golden.jsonl"
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + ending
    path.write_bytes(text.encode(encoding))
    return FileGolden(str(path), **settings).load(documents)


def evidence(labels, index=0):
    return labels.questions[index].evidence


def test_our_own_layout(tmp_path):
    """Every field comes through; what is beside the question goes into its provenance."""
    line = {
        "question_id": "q1",
        "question": "How long?",
        "evidence": [
            {
                **GOOD["evidence"][0],
                "grade": 2,
                "alternatives": [
                    {"doc_id": "b.md", "start": 25, "end": 50},
                    {"start": 26, "end": 37, "quote": "Ask billing"},
                ],
            }
        ],
        "source": "synthetic",
        "answer": "thirty days",
        "provenance": {"model": "m"},
    }

    labels = load(tmp_path, line)

    (question,) = labels.questions
    assert (question.question_id, question.text, question.source, question.kind) == (
        "q1",
        "How long?",
        "synthetic",
        "span",
    )
    assert question.provenance == {"answer": "thirty days", "model": "m"}
    (unit,) = question.evidence
    assert unit.grade == 2
    assert unit.alternatives == (
        Evidence("b.md", 25, 50, "Refunds take thirty days.", grade=2),
        Evidence("a.md", 26, 37, "Ask billing", grade=2),
    )
    assert labels.states == {"VALID": 1, "MOVED": 0, "CHANGED": 0, "LOST": 0}
    assert labels.name == tmp_path.name


def test_ids_by_line_where_none_is_given(tmp_path):
    """Ids count lines, blank ones too, so that an id leads to its line."""
    labels = load(tmp_path, GOOD, "", GOOD, {**GOOD, "_id": 17})

    assert [question.question_id for question in labels.questions] == ["q0001", "q0003", "17"]


def test_a_quote_alone_is_located(tmp_path):
    """Without offsets the quote is looked for in its document, without a document in all of them."""
    labels = load(
        tmp_path,
        {"query": "x", "evidence": [{"doc_id": "b.md", "quote": "Refunds take thirty days."}]},
        {"text": "y", "evidence": [{"quote": "12 euros"}, {"doc_id": "a.md"}]},
    )

    assert [(e.doc_id, e.start, e.end) for e in evidence(labels, 0)] == [("b.md", 25, 50)]
    assert [(e.doc_id, e.start, e.end) for e in evidence(labels, 1)] == [
        ("b.md", 15, 23),
        ("a.md", None, None),
    ]
    assert labels.states["VALID"] == 3


def test_an_ambiguous_quote_is_left_out_with_its_places(tmp_path):
    """Two documents hold it, the label names neither: nobody guesses."""
    labels = load(tmp_path, GOOD, {"question": "x", "evidence": [{"quote": "Refunds take thirty days."}]})

    assert labels.left_out["q0002"].startswith(
        "AMBIGUOUS: the quote “Refunds take thirty days.” stands in 2 places: a.md at 0, b.md at 25; give start"
    )
    assert labels.states["CHANGED"] == 1


@pytest.mark.parametrize("key", ["question", "query", "text"])
def test_lists_of_relevant_documents(tmp_path, key):
    """The layout of many frameworks: a query and the ids of its documents."""
    labels = load(tmp_path, {key: "x", "relevant_doc_ids": ["b.md", "a.md"]})

    assert evidence(labels) == (Evidence("b.md"), Evidence("a.md"))
    assert labels.questions[0].kind == "document"


def test_gold_ids_are_positions_in_the_source_or_document_ids(tmp_path):
    """Position 1 was left out of the corpus (an empty file): it is lost, and does not shift the others."""
    labels = load(
        tmp_path,
        {"question": "x", "gold_id": 2},
        {"question": "y", "gold_id": [0, 2]},
        {"question": "z", "gold_id": "b.md"},
        {"question": "w", "gold_id": 1},
        {"question": "v", "gold_id": 12},
        {"question": "u", "gold_id": "2"},
    )

    assert [[e.doc_id for e in question.evidence] for question in labels.questions] == [
        ["b.md"],
        ["a.md", "b.md"],
        ["b.md"],
    ]
    assert labels.left_out == {
        "q0004": "LOST: gold_id is 1; the documents of this corpus have positions 0 to 2, but this one was left out "
        "(empty, binary, or the same again)",
        "q0005": "LOST: gold_id is 12; the documents of this corpus have positions 0 to 2, and positions in a list of "
        "chunks need golden.chunks=FILE",
        "q0006": "LOST: there is no document with the id 2; a position is written without quotation marks: "
        '"gold_id": 2',
    }


CHUNKS = ["Ask billing first.", " Refunds take thirty days.\n", "Not in the corpus at all, this one."]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(CHUNKS),
        json.dumps([{"id": i, "text": text} for i, text in enumerate(CHUNKS)], indent=1),
        "\n".join(json.dumps(text) for text in CHUNKS) + "\n",
        "\n\n".join(json.dumps({"page_content": text}) for text in CHUNKS),
    ],
    ids=["list", "objects", "lines", "lines of objects"],
)
def test_gold_ids_into_a_list_of_chunks_become_spans(tmp_path, content):
    """The chunk's text is found in the documents, its copies are alternatives, and any chunking can be scored against it."""
    (tmp_path / "chunks.json").write_text(content)

    labels = load(
        tmp_path,
        {"question": "x", "gold_id": 1},
        {"question": "y", "gold_id": [0, 1]},
        {"question": "z", "gold_id": 2},
        chunks=str(tmp_path / "chunks.json"),
    )

    (unit,) = evidence(labels, 0)
    assert [(e.doc_id, e.start, e.end) for e in unit.places] == [("a.md", 0, 25), ("b.md", 25, 50)]
    assert [e.quote for e in evidence(labels, 1)] == ["Ask billing first.", "Refunds take thirty days."]
    assert labels.questions[0].kind == "span"
    assert labels.states == {"VALID": 3, "MOVED": 0, "CHANGED": 0, "LOST": 1}
    assert list(labels.left_out) == ["q0003"]


def test_chunks_with_other_white_space_become_spans(tmp_path):
    """A splitter that joined lines: the chunk's words are found, in all their places."""
    documents = [
        Document("a.md", "x. Refunds take\r\nthirty days. y"),
        Document("b.md", "Refunds  take thirty days."),
    ]
    (tmp_path / "chunks.json").write_text(json.dumps(CHUNKS))

    labels = load(
        tmp_path, {"question": "x", "gold_id": 1}, documents=documents, chunks=str(tmp_path / "chunks.json")
    )

    (unit,) = evidence(labels)
    assert [place.quote for place in unit.places] == [
        "Refunds take\r\nthirty days.",
        "Refunds  take thirty days.",
    ]
    assert [(place.doc_id, place.start) for place in unit.places] == [("a.md", 3), ("b.md", 0)]
    assert labels.states["VALID"] == 1


EVIDENCE = GOOD["evidence"][0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"question": ', "not JSON (Expecting value at character 14)"),
        ("[1]", "[1] is not a JSON object; one object a line is expected"),
        ({"evidence": [EVIDENCE]}, 'no question: a text is expected under "question"'),
        ({**GOOD, "question": ""}, "question is empty; a text is expected"),
        ({**GOOD, "question": " \n"}, "question is nothing but white space"),
        ({**GOOD, "question": 4}, "question is 4; a text is expected"),
        ({**GOOD, "query": "x"}, "question and query both give the question; keep one of them"),
        ({**GOOD, "id": "a", "qid": "b"}, "id and qid both give the question's id"),
        ({**GOOD, "gold_id": 1}, "evidence and gold_id both give the evidence"),
        ({**GOOD, "id": 1.5}, "id is 1.5; an id is a text that is not empty, or a whole number"),
        ({**GOOD, "source": "gpt"}, 'source is "gpt"; allowed are synthetic, production, import'),
        ({**GOOD, "provenance": 3}, "provenance is 3; an object is expected"),
        ({**GOOD, "qustion_id": "x"}, 'unknown key "qustion_id" in a question; did you mean "question_id"?'),
        ({**GOOD, "zzz": "x"}, 'unknown key "zzz" in a question; allowed are _id, answer'),
        ({"question": "x"}, "no evidence: one of evidence, gold_id, relevant_doc_ids is expected"),
        ({"question": "x", "evidence": None}, "no evidence"),
        ({"question": "x", "relevant_doc_ids": [None]}, "relevant_doc_ids is missing; an id is a text"),
        ({"question": "x", "gold_id": -1}, "gold_id is -1; positions are counted from 0"),
        (
            {"question": "x", "gold_id": [1, "a.md"]},
            "give positions (numbers) or document ids (texts), not both",
        ),
        ({"question": "x", "gold_id": True}, "gold_id is true; an id is a text"),
        ({"question": "x", "evidence": "a.md"}, 'evidence is "a.md"; a list of objects is expected'),
        ({"question": "x", "evidence": ["a.md"]}, 'evidence[0] is "a.md"; an object is expected'),
        (
            {"question": "x", "evidence": [EVIDENCE, {"doc": "a.md"}]},
            'unknown key "doc" in evidence[1]; did you mean "doc_id"?',
        ),
        ({"question": "x", "evidence": [{"start": 1, "end": 2}]}, "evidence[0] has no doc_id"),
        (
            {"question": "x", "evidence": [{**EVIDENCE, "end": 0}]},
            "evidence[0] has start 0 and end 0; 0 <= start < end",
        ),
        ({"question": "x", "evidence": [{**EVIDENCE, "start": -3}]}, "evidence[0] has start -3 and end 25"),
        (
            {"question": "x", "evidence": [{**EVIDENCE, "end": None}]},
            "evidence[0] has start alone; give both",
        ),
        (
            {"question": "x", "evidence": [{**EVIDENCE, "start": "0"}]},
            'start is "0"; a whole number is expected',
        ),
        ({"question": "x", "evidence": [{**EVIDENCE, "quote": " \t"}]}, "quote is nothing but white space"),
        *(
            (
                {"question": "x", "evidence": [{**EVIDENCE, "grade": grade}]},
                f"grade of evidence[0] is {said}; a number",
            )
            for grade, said in (
                ("high", '"high"'),
                (True, "true"),
                (float("nan"), "NaN"),
                (float("inf"), "Infinity"),
                (2**53 + 1, "9007199254740993"),
                ([2], "[2]"),
            )
        ),
        ({"question": "x", "relevant_doc_ids": {"a.md": "2"}}, 'grade of a.md is "2"; a number'),
        (
            {"question": "x", "evidence": [{"doc_id": "a.md", "grade": 2}, {"doc_id": "a.md"}]},
            "a.md has the grades 2 and 1; keep one of them",
        ),
        (
            {"question": "x", "evidence": [EVIDENCE], "not_relevant": [EVIDENCE]},
            "a.md at 0 has the grades 1 and 0; keep one of them",
        ),
        ({"question": "x", "not_relevant": "a.md"}, 'not_relevant is "a.md"; a list of objects'),
        (
            {"question": "x", "evidence": [{**EVIDENCE, "alternatives": 3}]},
            "alternatives of evidence[0] is 3",
        ),
        (
            {"question": "x", "evidence": [{**EVIDENCE, "alternatives": [{**EVIDENCE, "grade": 2}]}]},
            'unknown key "grade" in an alternative of evidence[0]',
        ),
        ({**GOOD, "id": "q0001"}, 'the question id "q0001" stands in line 1 already'),
    ],
)
def test_a_fault_names_file_and_line(tmp_path, line, words):
    """Malformed, misspelt, contradictory or missing: the message says which line and what is wrong there."""
    with pytest.raises(InputError) as caught:
        load(tmp_path, GOOD, "", line)

    assert str(caught.value).startswith(f"{tmp_path / 'golden.jsonl'}:3: ")
    assert words in str(caught.value)
    assert (caught.value.path, caught.value.line) == (tmp_path / "golden.jsonl", 3)


def test_a_torn_last_line_is_told_as_such(tmp_path):
    """A line that lost its end when the writer was killed is named; it is not passed over."""
    with pytest.raises(InputError, match=r"golden\.jsonl:2: the last line is cut off") as caught:
        load(tmp_path, GOOD, json.dumps(GOOD)[:-20], ending="")
    assert caught.value.line == 2

    assert len(load(tmp_path, GOOD, GOOD, ending="").questions) == 2


def test_several_faults_come_in_one_message(tmp_path):
    """The first five with their lines, then a count: nobody mends a file one error at a time."""
    with pytest.raises(InputError) as caught:
        load(tmp_path, GOOD, *[{"question": ""}] * 3, "x", *[{**GOOD, "a": 1}] * 3)

    lines = str(caught.value).splitlines()
    assert lines[0] == f"{tmp_path / 'golden.jsonl'}: 7 faults:"
    assert [line.split(":")[0] for line in lines[1:]] == [
        *(f"  line {n}" for n in range(2, 7)),
        "  and 2 more",
    ]
    assert caught.value.line == 2


def test_a_position_beyond_the_chunks_is_a_fault(tmp_path):
    """The list and the golden set don't belong together then."""
    (tmp_path / "chunks.json").write_text(json.dumps(CHUNKS))

    with pytest.raises(
        InputError, match=r"golden\.jsonl:1: gold_id is 3; golden\.chunks has 3 texts, counted from 0"
    ):
        load(tmp_path, {"question": "x", "gold_id": 3}, chunks=str(tmp_path / "chunks.json"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('["a", 3]', "chunks.json: entry 1: a chunk is a text that is not blank"),
        ('{"text": "a"}\n{"text": " "}', "chunks.json:2: a chunk is a text"),
        ('"a"\n"b', "chunks.json:2: not JSON (Unterminated string"),
    ],
)
def test_faults_in_the_list_of_chunks(tmp_path, content, words):
    """They name the entry or the line of that file, not of the golden set."""
    (tmp_path / "chunks.json").write_text(content)

    with pytest.raises(InputError) as caught:
        load(tmp_path, {"question": "x", "gold_id": 0}, chunks=str(tmp_path / "chunks.json"))
    assert words in str(caught.value)


def test_missing_empty_and_wrong_files_are_refused(tmp_path):
    """Each says what to give instead."""
    with pytest.raises(InputError, match=r"no such file .*golden\.path=FILE"):
        FileGolden(str(tmp_path / "x.jsonl")).load(DOCUMENTS)
    with pytest.raises(InputError, match="golden=file reads one file"):
        FileGolden(str(tmp_path)).load(DOCUMENTS)
    with pytest.raises(InputError, match="holds no questions"):
        load(tmp_path, " ")
    with pytest.raises(InputError, match=r"golden\.chunks is .*no such file"):
        load(tmp_path, GOOD, chunks=str(tmp_path / "x.json"))


@pytest.mark.parametrize(
    ("encoding", "line"), [("cp1252", 2), ("utf-16-le", 1), ("utf-16-be", 1), ("utf-32-le", 1)]
)
@pytest.mark.parametrize("ending", ["\n", ""])
def test_another_encoding_is_called_by_its_name(tmp_path, encoding, line, ending):
    """Not a line that was cut off or is no JSON: the whole file is to be saved again."""
    with pytest.raises(
        InputError, match=rf"golden\.jsonl is not UTF-8.* \(line {line}, byte \d+ of"
    ) as caught:
        load(tmp_path, GOOD, '{"question": "é"}', encoding=encoding, ending=ending)
    assert str(caught.value).endswith("Save the file as UTF-8.")
    assert caught.value.line == line


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_no_fault(tmp_path, encoding):
    """Files saved by Windows editors are read."""
    assert len(load(tmp_path, GOOD, encoding=encoding).questions) == 1


def test_unescaped_line_separators_do_not_end_a_line(tmp_path):
    """U+2028 inside a quote is a character, as in the documents."""
    document = Document("a.md", "one\u2028two")
    line = json.dumps(
        {"question": "x", "evidence": [{"doc_id": "a.md", "quote": "one\u2028two"}]}, ensure_ascii=False
    )

    assert evidence(load(tmp_path, line, documents=[document])) == (Evidence("a.md", 0, 7, "one\u2028two"),)


def test_the_digest_is_of_the_questions_as_written(tmp_path):
    """Blank lines, blanks and the order of keys don't matter; questions, labels and the list of chunks do."""
    (tmp_path / "chunks.json").write_text(json.dumps(CHUNKS))
    first = load(tmp_path, GOOD).digest

    assert load(tmp_path, "", json.dumps(dict(reversed(GOOD.items())), indent=None), "").digest == first
    assert load(tmp_path, {**GOOD, "question": "How"}).digest != first
    assert load(tmp_path, GOOD, chunks=str(tmp_path / "chunks.json")).digest != first
    assert load(tmp_path, GOOD, documents=[DOCUMENTS[0]]).digest == first


FAQ = [*DOCUMENTS, Document("faq.md", "Frequently asked.", position=3)]


def test_a_grade_of_zero_or_less_says_not_relevant(tmp_path):
    """No label and no fault, in any layout: the judgement is kept beside the evidence, with its grade."""
    labels = load(
        tmp_path,
        {"question": "x", "evidence": [{"doc_id": "a.md", "grade": 2.5}, {"doc_id": "b.md", "grade": 0}]},
        {"query": "y", "relevant_doc_ids": {"a.md": 2, "b.md": 0, "faq.md": -1.5}},
        {"query": "z", "relevant_doc_ids": ["a.md"], "not_relevant": [{"doc_id": "b.md"}]},
        documents=FAQ,
    )

    assert [evidence(labels, i) for i in range(3)] == [
        (Evidence("a.md", grade=2.5),),
        (Evidence("a.md", grade=2),),
        (Evidence("a.md"),),
    ]
    assert [question.not_relevant for question in labels.questions] == [
        (Evidence("b.md", grade=0),),
        (Evidence("b.md", grade=0), Evidence("faq.md", grade=-1.5)),
        (Evidence("b.md", grade=0),),
    ]
    assert labels.not_relevant == 4
    assert labels.states["VALID"] == 3


def test_the_threshold_says_which_grades_are_relevant(tmp_path):
    """relevant_from=2: the 1 is a judgement against, and no grade counts as 1; the digest says that scores differ."""
    line = {"query": "y", "relevant_doc_ids": {"a.md": 2, "b.md": 1}}
    labels = load(tmp_path, line, {"question": "x", "gold_id": "b.md"}, documents=FAQ, relevant_from=2)

    assert evidence(labels) == (Evidence("a.md", grade=2),)
    assert labels.questions[0].not_relevant == (Evidence("b.md", grade=1),)
    assert list(labels.left_out) == ["q0002"]
    assert labels.digest != load(tmp_path, line, {"question": "x", "gold_id": "b.md"}).digest
    with pytest.raises(SettingError, match=r"golden\.relevant_from is 0; it must be above 0"):
        FileGolden("x", relevant_from=0)


@pytest.mark.parametrize("key", ["evidence", "relevant_doc_ids", "gold_id"])
def test_a_question_without_evidence_is_left_out_and_the_others_go_on(tmp_path, key):
    """An empty list is no fault of the file, and neither is a question of which all judgements are 0."""
    labels = load(
        tmp_path,
        {"id": "none", "question": "x", key: []},
        {"id": "zero", "query": "y", "relevant_doc_ids": {"a.md": 0, "b.md": 0}},
        GOOD,
        keep_lost=True,
    )

    assert [question.question_id for question in labels.questions] == ["q0003"]
    assert labels.left_out == {
        "none": "NO EVIDENCE: the set gives none",
        "zero": "NO EVIDENCE: all judgements say: not relevant (2)",
    }
    with pytest.raises(InputError, match=r'no question of 1.*"q0001": NO EVIDENCE.*Give evidence'):
        load(tmp_path, {"question": "x", key: []})


def test_evidence_named_twice_counts_once(tmp_path):
    """However it is written: in a list, by another name, with offsets and without, by position."""
    again = {"quote": "Refunds take thirty days. ", "doc_id": "a.md"}
    labels = load(
        tmp_path,
        {"query": "x", "relevant_doc_ids": ["a.md", "a.md", "b.md", "./a.md"]},
        {"query": "x", "evidence": [*GOOD["evidence"], again, *GOOD["evidence"]]},
        {"query": "x", "gold_id": [2, 0, 2]},
    )

    assert [len(question.evidence) for question in labels.questions] == [2, 1, 2]


def test_two_grades_of_one_place_that_is_written_in_two_ways(tmp_path):
    """Which one is right is not known: the question is left out, the others go on."""
    labels = load(tmp_path, {"query": "x", "relevant_doc_ids": {"a.md": 2, "docs/a.md": 1}}, GOOD, GOOD)

    assert labels.left_out == {"q0001": "CONTRADICTORY: a.md has the grades 2 and 1"}
    assert len(labels.questions) == 2


def test_documents_named_otherwise_are_found_and_said(tmp_path):
    """A path, another case, a number without its zeros: as in an import. A typing error is no other name."""
    labels = load(
        tmp_path,
        *(
            {"query": "x", "gold_id": name}
            for name in ("docs/a.md", "A.MD", ".\\a.md", "7", "a", "xylophone.md")
        ),
        documents=[*FAQ, Document("007", "x", position=4)],
    )

    assert labels.other_names == {"docs/a.md": "a.md", "A.MD": "a.md", ".\\a.md": "a.md", "7": "007"}
    assert [question.evidence[0].doc_id for question in labels.questions] == ["a.md", "a.md", "a.md", "007"]
    assert labels.left_out == {
        "q0005": "LOST: there is no document a. Did you mean a.md?",
        "q0006": "LOST: there is no document xylophone.md",
    }


def test_a_set_of_which_most_is_lost_is_refused_unless_that_is_wanted(tmp_path):
    """Three of five labels name documents of another corpus: a score of the other two is of no set."""
    lines = [
        {"query": "x", "relevant_doc_ids": names} for names in (["a.md", "b.md"], ["c.md", "d.md"], ["e.md"])
    ]

    with pytest.raises(InputError, match=r"only 1 of 3 questions .*2 VALID.*3 LOST.*c\.md.*keep_lost=true"):
        load(tmp_path, *lines)
    assert len(load(tmp_path, *lines, keep_lost=True).questions) == 3
    assert len(load(tmp_path, *lines[:2]).questions) == 1
