"""Rows as libraries and services make them; the classes here have the attributes of theirs."""

from __future__ import annotations

from types import SimpleNamespace as Made
from typing import NamedTuple

import numpy as np
import pytest

from harness.retriever import Row
from harness.retriever.external.answers import ask_all
from harness.retriever.external.rows import read_row

TEXT = "Refunds take five days."


class Hit(NamedTuple):
    doc_id: str
    score: float


class Unreadable:
    """A node without a text, whose property raises."""

    score = 0.5
    node = Made(ref_doc_id="refunds.md", get_content=lambda: TEXT)

    @property
    def text(self):
        raise ValueError("not a text node")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (TEXT, Row(text=TEXT)),
        ((TEXT, 0.5), Row(text=TEXT, score=0.5)),
        ([TEXT, np.float32(0.5)], Row(text=TEXT, score=0.5)),
        ((TEXT, None), Row(text=TEXT)),
        (("refunds.md", 2), Row(text="refunds.md", score=2)),
        ((7, 0.5), Row(fault="an int without an id or a text", given="7", score=0.5)),
        # LangChain: a Document, alone and with its score.
        (
            Made(id=None, page_content=TEXT, metadata={"source": "docs/refunds.md", "start_index": 4}),
            Row("docs/refunds.md", TEXT, 4, 27),
        ),
        (
            (Made(id="7f", page_content=TEXT, metadata={"doc_id": "r", "source": "refunds.md"}), 0.5),
            Row("7f", TEXT, score=0.5, also=("r", "refunds.md")),
        ),
        # LlamaIndex: a NodeWithScore, as an object, and written as JSON.
        (
            Made(
                score=0.5,
                node=Made(text=TEXT, ref_doc_id="refunds.md", start_char_idx=4, end_char_idx=27, metadata={}),
            ),
            Row("refunds.md", TEXT, 4, 27, 0.5),
        ),
        (Unreadable(), Row("refunds.md", TEXT, score=0.5)),
        (
            {"node": {"text": TEXT, "metadata": {"file_name": "refunds.md"}}, "score": 0.5},
            Row("refunds.md", TEXT, score=0.5),
        ),
        # Haystack
        (
            Made(id="9c", content=TEXT, meta={"file_path": "refunds.md", "split_idx_start": 4}, score=0.5),
            Row("9c", TEXT, 4, 27, 0.5, also=("refunds.md",)),
        ),
        # Elasticsearch and OpenSearch; Qdrant.
        (
            {"_index": "kb", "_id": "refunds.md", "_score": 0.5, "_source": {"body": TEXT, "start": 4, "end": 27}},
            Row("refunds.md", TEXT, 4, 27, 0.5),
        ),
        (
            {"id": 3, "version": 1, "score": 0.5, "payload": {"chunk": TEXT, "file": "refunds.md"}},
            Row("3", TEXT, score=0.5, also=("refunds.md",)),
        ),
        (Made(id=3, score=0.5, payload={"page_content": TEXT}), Row("3", TEXT, score=0.5)),
        # Others
        ({"document": {"id": "refunds.md", "text": TEXT}, "score": 0.5}, Row("refunds.md", TEXT, score=0.5)),
        ({"document": TEXT, "id": "refunds.md", "chunk": 3}, Row("refunds.md", TEXT)),
        (Hit("refunds.md", 0.5), Row("refunds.md", score=0.5)),
        ({"doc_id": 7, "text": TEXT}, Row("7", TEXT)),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_row_is_read_whatever_made_it(given, expected):
    """Texts, pairs with a score, objects and mappings; the row's own fields go before those of its metadata."""
    assert read_row(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        [TEXT],
        {"results": [TEXT]},
        {"documents": [{"content": TEXT}], "took": 3},
        {"retriever": {"documents": [{"content": TEXT}]}},
        {"took": 3, "hits": {"total": {"value": 1}, "hits": [{"_source": {"text": TEXT}}]}},
        {"result": [{"payload": {"text": TEXT}}], "status": "ok", "time": 0.1},
        {"result": {"points": [{"payload": {"text": TEXT}}]}, "status": "ok"},
        {"response": {"numFound": 1, "docs": [{"text": TEXT}]}, "error": None},
        {"matches": [{"metadata": {"text": TEXT}}], "namespace": ""},
        Made(body={"hits": {"hits": [{"_source": {"text": TEXT}}]}}),
        Made(points=[Made(payload={"text": TEXT})]),
        Made(source_nodes=[Made(node=Made(text=TEXT))]),
        (text for text in [TEXT]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_list_is_found_in_an_answer(given):
    """Under the names that services give it, at any depth."""
    (answer,) = ask_all(lambda *_: given, ["q"], 1, 5)

    assert [row.text for row in answer.rows] == [TEXT]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (None, "nothing (None) without an id or a text"),
        (3, "an int without an id or a text"),
        (["a", "b"], "a list without an id or a text"),
        ({"passages": "t", "rank": 1}, "a dict without an id or a text"),
        ({"id": 1.5}, "id is a float"),
        ({"id": True}, "id is a bool"),
        ({"text": 5}, "text is an int"),
        ({"start": "1", "end": 2}, "start is a str, only one of start and end"),
        ({"start": 1}, "only one of start and end"),
        ({"start": 1.0, "end": True}, "start is a float, end is a bool"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrong_fields_are_named(row, fault):
    """A row with a wrong field stays a row; the field is left out and named."""
    assert read_row(row).fault == fault


@pytest.mark.parametrize(
    "score", [float("nan"), float("inf"), "0.5", True, [1]], ids=lambda value: type(value).__name__
)
def test_scores_that_are_no_numbers(score):
    """They become nan, which is counted."""
    assert np.isnan(read_row({"score": score}).score)
