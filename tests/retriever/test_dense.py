from __future__ import annotations

import tracemalloc

import numpy as np

from harness.index.exact import ExactIndex
from harness.records import Chunks, Document, Encoded
from harness.retriever.dense import DenseRetriever


class Lengths:
    """A vector by the text's length; keeps what it was given."""

    def encode_documents(self, texts):
        self.given = texts
        length = np.array([len(text) for text in texts], np.int64)
        angle = length / 100
        return Encoded(np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32), length, length, length)

    encode_queries = encode_documents


def chunks_of(texts, prefix=""):
    rows = np.arange(len(texts))
    documents = [Document(f"{i:06}", text, embed_prefix=prefix) for i, text in enumerate(texts)]
    ends = np.array([len(text) for text in texts])
    return Chunks(documents, rows, np.zeros(len(texts), np.int64), ends, ends)


def test_equal_texts_are_embedded_once_and_rank_by_row():
    """Different texts in the order of their first rows, prefix included; columns come back for every row."""
    retriever, model = DenseRetriever(), Lengths()
    retriever.build(chunks_of(["aa", "b", "aa", "", "b"], prefix="t "), model, ExactIndex())

    assert list(model.given) == ["t aa", "t b", "t "]
    assert [model.given[i] for i in (2, -1)] == ["t ", "t "]
    assert model.given[1:] == ["t b", "t "]
    assert retriever.encoded().tokens.tolist() == [4, 3, 4, 2, 3]
    assert retriever.search(["abcde"], 5).rows.tolist() == [[0, 2, 1, 4, 3]]


def test_line_ends_are_read_alike_and_counted_as_they_stand():
    r"""The model gets the same text for each kind of line end; what it read is said in the file's characters.

    Of "a\r\nbc\r\nd" (8 characters) it gets "a\nbc\nd" (6). It reads "a\nbc" (4): 5 in the document.
    """

    class Four(Lengths):
        def encode_documents(self, texts):
            return super().encode_documents(texts)._replace(seen_chars=np.full(len(texts), 4 + len("t ")))

    retriever, model = DenseRetriever(), Four()
    retriever.build(chunks_of(["a\nbc\nd", "a\r\nbc\r\nd", "a\rbc\rd"], prefix="t "), model, ExactIndex())

    assert list(model.given) == ["t a\nbc\nd"]
    assert (retriever.encoded().seen_chars - 2).tolist() == [4, 5, 4]


def test_the_texts_are_not_held_a_second_time():
    """Building for 20 MB of text takes a few hundred bytes a row, not the texts once more."""
    texts = [f"{i:05}" + "x" * 9_995 for i in range(2_000)]
    chunks, retriever = chunks_of(texts, prefix="title "), DenseRetriever()
    tracemalloc.start()
    retriever.build(chunks, Lengths(), ExactIndex())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2_000_000
