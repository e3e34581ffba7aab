"""What an external retriever returned: as chunks in the total order, and what was wrong with it, counted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.records import Chunks, Document, IntArray, Kind, Question
from harness.retriever import Answer, Row
from harness.retriever.external.locating import Located, key
from harness.retriever.external.rows import line
from harness.text.tokens import Tokenizer, TokenMap

# What a row that is in no document is called, in files and reports.
NOWHERE = "(in no document)"


@dataclass(frozen=True)
class Pool:
    """The chunks that came back.

    ``tokens`` maps ``chunks.documents``. Documents made up for rows that are in no document stand last.
    """

    chunks: Chunks
    tokens: Sequence[TokenMap]
    row_of_span: Mapping[tuple[int, int, int], int]
    nowhere: Mapping[Row, int]

    def row(self, row: Row, located: Located, *, documents: bool) -> int:
        """The chunk, or the document, that an answer's row is; ``row`` is its ``key``."""
        if documents:
            return located.doc if located.doc >= 0 else self.nowhere[row]
        if located.span is not None:
            return self.row_of_span[located.span]
        doc = self.nowhere[row]
        return self.row_of_span[doc, 0, len(self.chunks.documents[doc].text)]


def repeated(row: Row, located: Located) -> object:
    """What a row and its repeats have in common: the span, else the text; ``row`` is a ``key``."""
    return located.span or row.text or row


def uncut(documents: Sequence[Document]) -> Chunks:
    """The documents without any chunk: an external retriever returns its own."""
    nothing = np.zeros(0, np.int64)
    return Chunks(documents, nothing, nothing, nothing, nothing, complete=False)


def pool(
    rows: Iterable[Row],
    located: Mapping[Row, Located],
    documents: Sequence[Document],
    tokens: Sequence[TokenMap],
    tokenizer: Tokenizer,
) -> Pool:
    """The chunks of ``rows``.

    A row without a span becomes a document of its own behind the others, so that its text is counted as read.
    """
    keys = dict.fromkeys(map(key, rows))
    lost = {row: repeated(row, located[row]) for row in keys if located[row].span is None}
    distinct = {same: i for i, same in enumerate(dict.fromkeys(lost.values()))}
    nowhere = {row: len(documents) + distinct[same] for row, same in lost.items()}
    texts = [same if isinstance(same, str) else " " for same in distinct]  # a row of the pool has a character
    if lost:
        made_up = [Document(f"{NOWHERE} {i}", text) for i, text in enumerate(texts, start=1)]
        documents, tokens = [*documents, *made_up], [*tokens, *tokenizer.map(texts)]
    spans = {span for row in keys if (span := located[row].span) is not None}
    first = len(documents) - len(texts)
    ends = {(first + i, 0, len(text)) for i, text in enumerate(texts)}
    ordered = sorted({tuple(span) for span in spans} | ends)
    doc, start, end = np.array(ordered, np.int64).reshape(-1, 3).T
    chunks = Chunks(documents, doc, start, end, _counts(doc, start, end, tokens), complete=False)
    return Pool(chunks, tokens, {(d, s, e): row for row, (d, s, e) in enumerate(ordered)}, nowhere)


def _counts(doc: IntArray, start: IntArray, end: IntArray, tokens: Sequence[TokenMap]) -> IntArray:
    """int64 (spans,): tokens of each; spans of one document stand together."""
    counts = np.zeros(len(doc), np.int64)
    for first, last in _runs(doc):
        low, high = np.searchsorted(tokens[doc[first]].starts, (start[first:last], end[first:last]))
        counts[first:last] = high - low
    return counts


def _runs(doc: IntArray) -> list[tuple[int, int]]:
    borders = [0, *(np.flatnonzero(np.diff(doc)) + 1).tolist(), len(doc)]
    return [(first, last) for first, last in itertools.pairwise(borders) if last > first]


_NAMES = (
    *("rows", "unmapped_rows", "cleaned_rows", "ambiguous_rows", "duplicate_rows", "malformed_rows"),
    *("bad_scores", "surplus_rows", "failed_questions", "empty_answers", "short_answers"),
)


class Problems(NamedTuple):
    """Figures by name (``counts``), and the first case of each in words (``examples``).

    No example holds any text of documents.
    """

    counts: Mapping[str, float]
    examples: Mapping[str, str]


def problems(
    questions: Mapping[Kind, Sequence[Question]],
    answers: Mapping[str, Answer],
    located: Mapping[Row, Located],
    most_k: int,
) -> Problems:
    """Looks through every answer.

    ``rows``: how many came back. ``unmapped_rows``: in no document. ``cleaned_rows``: found by their
    words, in another typography or among markup. ``ambiguous_rows``: their text occurs several times, the
    first span was taken. ``duplicate_rows``: repeats of an earlier row of the answer, removed.
    ``malformed_rows``: something in them can't be read. ``bad_scores``: no number. ``surplus_rows``: beyond
    what was asked for, cut off. ``failed_questions``: no answer. ``empty_answers``: no row.
    ``short_answers``: some rows, but fewer than the largest k.
    """
    found = _Found()
    for kind, asked in questions.items():
        for question in asked:
            answer = answers[question.text]
            found.add("failed_questions", question, bool(answer.error), answer.error)
            found.add("empty_answers", question, not answer.error and not answer.rows, "0 rows")
            short = 0 < len(answer.rows) < most_k
            found.add("short_answers", question, short, f"{len(answer.rows)} rows for k={most_k}")
            found.add("surplus_rows", question, answer.surplus, f"{answer.surplus} too many")
            _look_through(found, kind, question, answer.rows, located)
    return Problems(found.counts, found.examples)


def _look_through(
    found: _Found, kind: Kind, question: Question, rows: Sequence[Row], located: Mapping[Row, Located]
) -> None:
    seen: set[object] = set()
    for rank, row in enumerate(rows, start=1):
        found_at, where = located[key(row)], f"row {rank}"
        named = where if row.id is None else f"{where}, id {line(row.id)!r}"
        lost = found_at.doc < 0 if kind == "document" else found_at.span is None
        same = repeated(key(row), found_at)
        found.add("rows", question, 1, where)
        found.add("unmapped_rows", question, lost, f"{named}: {found_at.reason}")
        found.add("cleaned_rows", question, found_at.is_cleaned and kind == "span", named)
        found.add("ambiguous_rows", question, found_at.is_ambiguous and kind == "span", named)
        found.add("duplicate_rows", question, same in seen, named)
        found.add("malformed_rows", question, bool(row.fault), f"{where}: {row.fault}")
        found.add("bad_scores", question, row.score is not None and math.isnan(row.score), named)
        seen.add(same)


class _Found:
    def __init__(self) -> None:
        self.counts = dict.fromkeys(_NAMES, 0.0)
        self.examples: dict[str, str] = {}

    def add(self, name: str, question: Question, times: float, what: str) -> None:
        if times:
            self.counts[name] += times
            if name != "rows":
                self.examples.setdefault(name, f"{question.question_id}, {what}")
