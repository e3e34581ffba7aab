"""The stretches of documents that reports show."""

from __future__ import annotations

import gzip
import random
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.records import Document, Evidence, Question
from harness.results import snippets
from harness.results.snippets import (
    AROUND,
    LONGEST,
    clipped,
    merged,
    read_excerpts,
    text_at,
    widened,
    write_excerpts,
)


def test_whole_documents_are_shown_by_their_beginning(tmp_path):
    """A row that is a long document does not bring all of it."""
    long = np.array([[0, 100, 100 + 50 * LONGEST]])

    assert clipped(long).tolist() == [[0, 100, 100 + LONGEST]]


SPANS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 50), st.integers(0, 20)).map(
        lambda s: (s[0], s[1], s[1] + s[2])
    ),
    max_size=12,
)


@settings(derandomize=True, max_examples=300)
@given(SPANS)
def test_merged_spans_hold_the_same_characters_once(spans):
    """Oracle: sets of characters. Merged spans are in order and neither touch nor overlap."""
    found = merged(np.array(spans, np.int64).reshape(-1, 3)).tolist()
    characters = {(doc, at) for doc, start, end in spans for at in range(start, end)}

    assert [(doc, at) for doc, start, end in found for at in range(start, end)] == sorted(characters)
    assert all(one[0] < other[0] or one[2] < other[1] for one, other in pairwise(found))


def test_spans_are_widened_inside_their_documents() -> None:
    """Three hundred characters on either side, as far as the document goes."""
    rows = np.array([[0, 10, 20], [1, 500, 520]])

    assert widened(rows, np.array([40, 5000])).tolist() == [[0, 0, 40], [1, 500 - AROUND, 520 + AROUND]]
    assert widened(rows).tolist()[0] == [0, 0, 20 + AROUND]


def ranked(folder, kind, rows):
    """A cell whose questions got these rows: (questions, depth, 3) of document, start, end; -1 where none came back."""
    folder.mkdir(parents=True)
    doc, start, end = np.moveaxis(np.array(rows), -1, 0)
    np.savez(folder / "rankings.npz", **{f"{kind}_doc": doc, f"{kind}_start": start, f"{kind}_end": end})


def questions(*evidence):
    return [Question(f"q{i}", f"question {i}", units) for i, units in enumerate(evidence)]


def test_evidence_and_first_rows_are_kept_with_their_surroundings(tmp_path) -> None:
    """Everything that a report highlights can be read back: evidence with its quote, alternatives, the first k rows of each cell, no other."""
    rng = random.Random(3)
    documents = [Document(f"{name}.md", "".join(rng.choices("abc \n", k=20_000))) for name in "abcd"]
    ranked(tmp_path / "0", "span", [[(1, 5000, 5400), (2, 100, 300), (3, 9000, 9100)]])
    ranked(tmp_path / "1", "document", [[(3, 0, 20_000), (-1, -1, -1), (-1, -1, -1)]])
    other = Evidence("b.md", 15_000, 15_020)
    asked = questions([Evidence("a.md", 700, 720, grade=2, alternatives=(other,))], [Evidence("c.md")])
    files = write_excerpts(tmp_path, documents, asked, 2, texts=True)
    pieces, evidence = read_excerpts(tmp_path)

    assert [file.name for file in files] == ["evidence.jsonl.gz", "texts.json.gz"]
    text = {document.doc_id: document.text for document in documents}
    for doc_id, start, end in (
        ("a.md", 700 - AROUND, 720 + AROUND),
        ("b.md", 15_000, 15_020),
        ("b.md", 5000 - AROUND, 5400 + AROUND),
        ("c.md", 0, LONGEST),
        ("c.md", 100, 300),
        ("d.md", 0, LONGEST),
    ):
        assert text_at(pieces, doc_id, start, end) == text[doc_id][start:end]
    assert text_at(pieces, "d.md", 9000, 9100) is None  # the third row of two
    assert text_at(pieces, "a.md", 700 - AROUND - 1, 720) is None
    assert sum(len(piece) for found in pieces.values() for _, piece in found) < 12_000
    assert evidence == {
        "q0": [
            {
                "doc_id": "a.md",
                "start": 700,
                "end": 720,
                "grade": 2,
                "quote": text["a.md"][700:720],
                "alternatives": [
                    {"doc_id": "b.md", "start": 15_000, "end": 15_020, "quote": text["b.md"][15_000:15_020]}
                ],
            }
        ],
        "q1": [{"doc_id": "c.md"}],
    }


def test_without_texts_no_word_is_written(tmp_path) -> None:
    """Ids and offsets stay, quotes and questions go; evidence that is lost has a place and no quote."""
    documents = [Document("a.md", "secret words here")]
    asked = questions([Evidence("a.md", 0, 6, "secret")], [Evidence("(lost) a.md", 3, 9, "hidden")])
    files = write_excerpts(tmp_path, documents, asked, 5, texts=False)

    assert [file.name for file in files] == ["evidence.jsonl.gz"]
    written = gzip.decompress(files[0].read_bytes()).decode()
    assert not any(word in written for word in ("secret", "hidden", "question 0"))
    assert read_excerpts(tmp_path) == (
        {},
        {
            "q0": [{"doc_id": "a.md", "start": 0, "end": 6}],
            "q1": [{"doc_id": "(lost) a.md", "start": 3, "end": 9}],
        },
    )


def test_what_does_not_fit_is_left_out(tmp_path, monkeypatch) -> None:
    """Rows give way before evidence, evidence of the last questions before that of the first; the file stays below the limit."""
    rng = random.Random(4)
    documents = [Document(f"{i:02}.md", "".join(rng.choices("abcdefgh", k=4000))) for i in range(40)]
    rows = [[(i, 2000 + 50 * j, 2100 + 50 * j) for j in range(8)] for i in range(40)]
    ranked(tmp_path / "0", "span", rows)
    asked = questions(*([Evidence(f"{i:02}.md", 0, 50)] for i in range(40)))

    def written(limit):
        monkeypatch.setattr(snippets, "MOST_BYTES", limit)
        write_excerpts(tmp_path, documents, asked, 8, texts=True)
        assert (tmp_path / "texts.json.gz").stat().st_size <= limit
        return read_excerpts(tmp_path)[0]

    assert text_at(written(10**6), "00.md", 2350, 2450)
    pieces = written(18_000)
    assert not text_at(pieces, "00.md", 2350, 2450)
    assert all(text_at(pieces, f"{i:02}.md", 0, 50) for i in range(40))
    pieces = written(3000)
    assert text_at(pieces, "00.md", 0, 50)
    assert not text_at(pieces, "39.md", 0, 50)
    assert written(190) == {}


def test_half_characters_survive(tmp_path) -> None:
    """A lone surrogate, which JSON can hold and UTF-8 can't, is read back as it was."""
    documents = [Document("a.md", "x \ud83d y é 漢")]
    write_excerpts(tmp_path, documents, questions([Evidence("a.md", 2, 3)]), 1, texts=True)

    assert read_excerpts(tmp_path)[0] == {"a.md": [(0, "x \ud83d y é 漢")]}
