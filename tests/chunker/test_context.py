"""``context``: what stands before a chunk for embedding: by hand, on hostile documents, in whole cells."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from workplace import Workplace, write_corpus, write_golden

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.settings import unused_by
from harness.chunker.context import CONTEXTS, with_context
from harness.cli import compose
from harness.cli.command import take_apart
from harness.decision import deployment
from harness.errors import SettingError
from harness.metrics.health import health, read_part
from harness.records import Chunks, Document, Encoded
from harness.text.encodings import unified

PAGE = (
    "Before.\n\n# Refunds\n\nOne.\n\n## Parts\n\nTwo.\n\n### Sensors\n\nThree.\n\n"
    "## Whole orders\n\nFour.\n\n# Repairs\n\nFive.\n"
)


def chunked(document, *texts):
    """Chunks of ``document`` that are these texts, each looked for after the start of the one before."""
    starts: list[int] = []
    for text in texts:
        starts.append(document.text.index(text, starts[-1] if starts else 0))
    start = np.array(starts, np.int64)
    size = np.array([len(text) for text in texts], np.int64)
    return Chunks([document], 0 * start, start, start + size, size)


def added(document, context, *texts):
    """What stands before each chunk's text when it is embedded."""
    chunks = with_context(chunked(document, *texts), context)
    whole = list(chunks.embed_texts(np.arange(len(chunks))))
    assert whole == [chunks.embed_text(row) for row in range(len(chunks))]
    assert all(one.endswith(text) for one, text in zip(whole, texts, strict=True))
    assert chunks.chars_before.tolist() == [
        len(one) - len(text) for one, text in zip(whole, texts, strict=True)
    ]
    return [one[: len(one) - len(text)] for one, text in zip(whole, texts, strict=True)]


def test_by_hand():
    """A chunk is under the headings above it, the highest first.

    A heading of the same level ends the one before.
    """
    document = Document("shop/refunds.md", PAGE, title="Refunds")
    texts = ("Before.", "One.", "Two.", "Three.", "Four.", "Five.")

    assert added(document, "none", *texts) == [""] * 6
    assert added(document, "title", *texts) == ["Refunds\n"] * 6
    assert added(document, "heading_path", *texts) == [
        "Refunds\n",
        "Refunds\n",
        "Refunds > Parts\n",
        "Refunds > Parts > Sensors\n",
        "Refunds > Whole orders\n",
        "Refunds > Repairs\n",
    ]


def test_a_heading_in_the_chunk_is_not_said_twice():
    """A chunk that begins with a heading is under the one above it.

    One that begins inside a heading is under that.
    """
    document = Document("a.md", PAGE, title="Refunds")
    texts = ("\n## Parts\n\nTwo.", "arts\n\nTwo.", "### Sensors\n\nThree.\n\n## Whole orders\n\nFour.")

    assert added(document, "heading_path", *texts) == [
        "Refunds\n",
        "Refunds > Parts\n",
        "Refunds > Parts\n",
    ]


def test_a_title_before_every_chunk_is_not_put_there_twice():
    """BEIR puts the title there already; the headings below it follow."""
    document = Document("a.md", PAGE, title="Refunds", embed_prefix="Refunds ")

    assert added(document, "title", "Two.") == ["Refunds "]
    assert added(document, "heading_path", "Two.") == ["Refunds Parts\n"]
    other = replace(document, embed_prefix="Shop: ")
    assert added(other, "heading_path", "Two.") == ["Shop: Refunds > Parts\n"]


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (Document("a/guide.txt", "# x", title="guide.txt"), "guide\n"),
        (Document("a/v1.2", "# x", title="v1.2"), "v1.2\n"),
        (Document("a/.md", "x # x", title=".md"), ".md\n"),
        (Document("a/guide.rst", "Install\n=======\n\n# x", title="guide.rst"), "Install\n"),
        (Document("a/guide.md", "Install\n---\n\n# x", title="guide.md"), "Install\n"),
        (Document("7", "# x"), ""),
        (Document("7", "# x", metadata={"title": "Rates"}), "Rates\n"),
        (Document("7", "# x", metadata={"title": 5}), ""),
        (Document("7", "# x", title=" Two\nlines "), "Two lines\n"),
    ],
    ids=lambda given: given.doc_id if isinstance(given, Document) else "",
)
def test_the_title(document, line):
    """The document's own, else the first heading, else the file's name without its ending.

    A document without any has no line.
    """
    assert added(document, "title", "# x") == [line]
    assert added(document, "heading_path", "# x") == [line]


@pytest.mark.parametrize("wrong", ["titles", "", None, True])
def test_another_context_is_refused(wrong):
    """The choices are named."""
    with pytest.raises(SettingError, match=r"context is .*; allowed are none, title, heading_path"):
        with_context(chunked(Document("a", "x"), "x"), wrong)


ATOMS = st.sampled_from(
    ["# ", "## ", "A", "b.", "\n", "\n\n", "\r\n", "---\n", "```", "\ud800", "\u0301", " ", "\x00"]
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    text=st.lists(ATOMS, min_size=1, max_size=40).map("".join),
    size=st.integers(1, 9),
    title=st.sampled_from(["", "T", "\ud800", "\n", "x" * 5000, "d.md"]),
    context=st.sampled_from(CONTEXTS),
)
def test_any_document(text, size, title, context):
    """Spans, sizes and the chunk's own text stay; what is added is one short line."""
    start = np.arange(0, len(text), size)
    before = Chunks(
        [Document("d.md", text, title=title)], 0 * start, start, np.minimum(start + size, len(text)), start
    )
    after = with_context(before, context)

    for column in ("documents", "doc", "start", "end", "tokens", "complete"):
        assert getattr(after, column) is getattr(before, column)
    for row in range(len(before)):
        own = unified(before.text(row))
        line = after.embed_text(row).removesuffix(own)
        assert line + own == after.embed_text(row)
        assert line == "" or (
            context != "none" and line.count("\n") == 1 and line.endswith("\n") and line.strip()
        )
        assert len(line) <= 200 * 8


def test_many_documents_with_and_without_chunks():
    """Every chunk gets its own document's line; a document without chunks shifts nothing."""
    documents = [Document(name, "abc", title=name.upper()) for name in ("a", "b", "c")]
    doc, zero = np.array([0, 2, 2]), np.array([0, 0, 1])
    chunks = with_context(Chunks(documents, doc, zero, zero + 1, zero), "title")

    assert list(chunks.embed_texts(np.array([2, 0]))) == ["C\nb", "A\na"]
    nothing = np.zeros(0, np.int64)
    empty = with_context(Chunks([], nothing, nothing, nothing, nothing), "title")
    assert len(empty) == len(empty.chars_before) == 0


def test_what_is_added_takes_room_in_the_window():
    """The model read 11 of 18 characters, "Refunds" and its line end (8) first.

    3 of the 10 characters of the chunk were seen.
    """
    chunks = with_context(chunked(Document("d", "0123456789", title="Refunds"), "0123456789"), "title")
    counts = (np.array([18]), np.array([11]), np.array([11]))  # a token a character
    encoded = Encoded(np.zeros((1, 0), np.float32), *counts)

    assert read_part(chunks, encoded).end.tolist() == [3]
    assert health(chunks, encoded, [])["truncated_tokens"] == pytest.approx(0.7)


@pytest.fixture
def place(tmp_path):
    """A folder with a few pages and questions."""
    write_corpus(tmp_path / "pages")
    write_golden(tmp_path / "golden.jsonl")
    return tmp_path


def config(place, *words):
    """The configuration of one cell over these pages."""
    given = ["corpus=folder", f"corpus.path={place}/pages", f"golden.path={place}/golden.jsonl"]
    taken = take_apart([*given, f"cache={place}/cache", "model=wordllama", "chunk=12", "k=1,3", *words])
    return compose.composed(taken, taken.overrides).config


def evaluated(place, *words):
    """The result of one cell."""
    return pipeline.evaluate(Shared().components(config(place, *words)), [1, 3], "recall_at_3")


@pytest.mark.models
@pytest.mark.parametrize("context", ["title", "heading_path"])
def test_only_the_ranking_changes(place, context):
    """Chunks, their sizes and relevance are those of context=none.

    Where nobody reads (lots are drawn), every score is the same.
    """
    plain, other = (
        evaluated(place, "retriever=random", f"context={one}").metrics() for one in ("none", context)
    )

    assert other == plain


@pytest.mark.models
@pytest.mark.parametrize("end", ["\r\n", "\r"], ids=["CRLF", "CR"])
@pytest.mark.parametrize(
    "words", [("chunker=recursive",), ("chunker=parent", "chunker.parent=40"), ("chunker=whole",)]
)
def test_line_ends_change_no_score(place, words, end):
    """Documents from another system score the same to the last digit, with a title before the text or without."""
    given = [(*words, f"context={context}", "retriever=hybrid") for context in ("none", "heading_path")]
    before = [evaluated(place, *some) for some in given]
    for file in (place / "pages").rglob("*.*"):
        file.write_bytes(file.read_bytes().replace(b"\n", end.encode()))

    for old, some in zip(before, given, strict=True):
        new = evaluated(place, *some)
        assert new.metrics() == old.metrics()
        assert {k: v for k, v in new.health.items() if k != "index_mb"} == {
            k: v for k, v in old.health.items() if k != "index_mb"
        }


@pytest.mark.models
@pytest.mark.parametrize("retriever", ["dense", "bm25", "hybrid"])
def test_every_retriever_reads_it(place, retriever):
    """The file's name is found in a chunk without the word.

    A ranking cached without context is not taken for it.
    """
    question = {
        "question_id": "q",
        "question": "cocoa",
        "evidence": [{"doc_id": "cocoa.txt", "quote": "slowly"}],
    }
    (place / "golden.jsonl").write_text(json.dumps(question) + "\n")
    words = (f"retriever={retriever}", "chunk=6")
    plain, titled = (evaluated(place, *words, f"context={one}") for one in ("none", "title"))

    found = [
        {titled.chunks.doc[row] for row in result.rankings["span"].rows[0, :3] if row >= 0}
        for result in (plain, titled)
    ]
    cocoa = titled.chunks.doc_index["cocoa.txt"]
    assert found[1] == {cocoa}
    assert plain.rankings["span"].rows.tolist() != titled.rankings["span"].rows.tolist()
    assert np.array_equal(plain.chunks.start, titled.chunks.start)
    assert evaluated(place, *words, "context=none").metrics() == plain.metrics()


@pytest.mark.models
def test_a_deployed_configuration_reads_it_too(place):
    """What was saved answers as the cell did, context included."""
    settings = config(place, "context=heading_path")
    deployment.save(settings, place / "deployed")
    deployed = deployment.load(place / "deployed")
    chunks = Shared().chunks(settings)

    rows = np.arange(len(chunks))
    assert list(deployed.chunks.embed_texts(rows)) == list(chunks.embed_texts(rows))
    assert chunks.context[0].endswith("\n")


@pytest.mark.models
def test_a_configuration_from_before_has_none(place):
    """A sweep or a deployment that was written when there was no such setting is read as it was."""
    now = OmegaConf.to_container(config(place), resolve=True)
    settings = OmegaConf.create({key: value for key, value in now.items() if key != "context"})

    assert Shared().chunks(settings).context == ()
    deployment.save(settings, place / "deployed")
    assert deployment.load(place / "deployed").chunks.context == ()


@pytest.mark.models
def test_an_axis_that_leaves_row_metrics_comparable(tmp_path_factory):
    """Swept alone it re-chunks nothing, so recall at k decides.

    A wrong value is refused before anything runs.
    """
    root = tmp_path_factory.mktemp("axis")
    write_corpus(root / "pages")
    write_golden(root / "golden.jsonl")
    place = Workplace(root, root / "pages", root / "golden.jsonl")
    done = place.sweep("-m", "context=none,title,heading_path", "tracker=none")

    assert done.returncode == 0, done.stdout + done.stderr
    assert [result["name"] for result in place.results()] == [
        "context=none",
        "context=title",
        "context=heading_path",
    ]
    assert {result["primary"] for result in place.results()} == {"recall_at_5"}
    assert place.sweep("context=path").returncode != 0


def test_it_does_not_reach_a_retriever_with_chunks_of_its_own(place):
    """A service that brings its chunks embeds what it embeds.

    The axis does not matter there, and does to every other.
    """
    own = config(place, "retriever=callable", "retriever.target=os:getcwd", "context=title")

    assert unused_by(own, "context") == "retriever"
    assert unused_by(config(place, "retriever=bm25", "chunker=whole"), "context") is None
