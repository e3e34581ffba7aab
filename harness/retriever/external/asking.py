"""An external retriever, which returns its own chunks, as a searcher like the built-in ones.

A live system may change at any time, so its answers are not cached between sweeps; within a cell every
question is asked once, and again only where the answer must be deeper.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from harness.errors import SettingError
from harness.records import Chunks, Document, FloatArray, IntArray, Kind, Question, Ranking
from harness.retriever import LATENCY_DEPTH, Answer, Depth, OwnRetriever, Prepared, Row
from harness.retriever.external.locating import Located, key, locate, named
from harness.retriever.external.returned import pool, problems
from harness.retriever.external.rows import line
from harness.retriever.scored import first_in_lists, first_of_each, ranking
from harness.text.tokens import Tokenizer, TokenMap

# No retriever is asked for more rows: no token budget needs them.
MOST_ROWS = 1600
_EVERYTHING = 2**62


class ExternalRetriever:
    """A ``Searcher`` over the chunks that came back for the questions asked in ``prepare``.

    The order is that of the answers. Scores decide nothing: where they are missing, no numbers or not in that
    order, they are -1, -2, ...
    """

    uses_model = False

    def __init__(self, retriever: OwnRetriever, tokenizer: Tokenizer) -> None:
        self._retriever = retriever
        self._tokenizer = tokenizer
        self._answers: dict[str, Answer] = {}
        self._located: dict[Row, Located] = {}

    def prepare(
        self,
        chunks: Chunks,
        tokens: Sequence[TokenMap],
        questions: Mapping[Kind, Sequence[Question]],
        ks: Sequence[int],
        metrics: Depth,
    ) -> Prepared:
        """Asks every question, deep enough for every k and budget.

        Without questions nothing is asked. Only the documents of ``chunks`` are used.

        Raises ``SettingError`` when no question is answered, no row comes back, most rows match no document,
        or ``retriever.depth`` is below the largest k.
        """
        depth = self._first_depth(ks, metrics)
        asked = open_ = {q.text: q for of_kind in questions.values() for q in of_kind}
        if not open_:
            return Prepared(chunks, tokens)
        self._index = {document.doc_id: i for i, document in enumerate(chunks.documents)}
        while open_:
            self._ask(list(open_), depth)
            answers = {text: self._answers[text] for text in asked}
            rows = [row for answer in answers.values() for row in answer.rows]
            self._located |= locate((row for row in rows if key(row) not in self._located), chunks.documents)
            wrong = problems(questions, answers, self._located, max(ks))
            _refuse_unusable(self._retriever.name, answers, self._located, wrong.counts, chunks.documents)
            self._pool = pool(rows, self._located, chunks.documents, tokens, self._tokenizer)
            self._ranked: dict[tuple[str, bool], tuple[IntArray, FloatArray]] = {}
            if self._retriever.depth or depth >= MOST_ROWS:
                break
            open_ = {text: q for text, q in open_.items() if not self._is_enough(q, depth, ks, metrics)}
            depth = min(2 * depth, MOST_ROWS)
        return Prepared(self._pool.chunks, self._pool.tokens, *wrong)

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The first ``depth`` rows of each answer, repeats left out; with ``groups``, documents."""
        lists = [self._in_order(question, documents=groups is not None) for question in questions]
        return ranking(lists, depth)

    def first_ranks(
        self, questions: Sequence[str], relevant: Sequence[IntArray], groups: IntArray | None = None
    ) -> IntArray:
        """Rank of the best relevant row among all that came back; 0 where none did."""
        documents = groups is not None
        return first_in_lists((self._in_order(text, documents=documents)[0] for text in questions), relevant)

    def encoded(self) -> None:
        """None: what a model of theirs saw is not known."""

    def measurements(self) -> Mapping[str, float]:
        """Nothing was built here, and how large their index is, is not known."""
        return {"index_seconds": 0.0, "index_mb": float("nan")}

    def search_ms(self, questions: Sequence[str]) -> FloatArray:
        """Milliseconds for each question alone, there and back, with ten rows; nan for one that fails."""
        taken = []
        for question in questions:
            started = time.perf_counter()
            (answer,) = self._asked(question, LATENCY_DEPTH)
            taken.append(float("nan") if answer.error else 1000 * (time.perf_counter() - started))
        return np.array(taken, np.float64)

    def answer(self, question: str, depth: int = LATENCY_DEPTH) -> list[str]:
        """The texts of the rows that come back, as far as they hold any."""
        (answer,) = self._asked(question, depth)
        return [row.text or "" for row in answer.rows]

    def _asked(self, question: str, depth: int) -> list[Answer]:
        return self._retriever.ask([question], min(depth, self._retriever.depth or depth))

    def _first_depth(self, ks: Sequence[int], metrics: Depth) -> int:
        given = self._retriever.depth
        if given is not None and given < max(ks):
            raise SettingError(
                f"retriever.depth is {given}, and k goes to {max(ks)}: a metric at k needs k rows. "
                f"Set k={given} or a greater depth.",
                key="retriever.depth",
            )
        return given or metrics.depth(ks, _EVERYTHING)

    def _ask(self, questions: Sequence[str], depth: int) -> None:
        for text, answer in zip(questions, self._retriever.ask(questions, depth), strict=True):
            # What was answered before stands, if it can't be had deeper.
            if not answer.error or text not in self._answers:
                self._answers[text] = answer._replace(rows=tuple(named(r, self._index) for r in answer.rows))

    def _is_enough(self, question: Question, depth: int, ks: Sequence[int], metrics: Depth) -> bool:
        """The largest k and, but for whole documents, every budget is filled; or no more came back."""
        if len(self._answers[question.text].rows) < depth:
            return True
        distinct = len(self._in_order(question.text, documents=question.kind == "document")[0])
        if distinct < max(ks) or question.kind == "document":
            return distinct >= max(ks)
        return metrics.is_deep_enough(self._pool.chunks, self.search([question.text], distinct))

    def _in_order(self, question: str, *, documents: bool) -> tuple[IntArray, FloatArray]:
        """The distinct rows of the whole answer, or documents, where each first stands; and their scores."""
        if (question, documents) not in self._ranked:
            rows = self._answers[question].rows
            keys = [key(row) for row in rows]
            places = [self._pool.row(row, self._located[row], documents=documents) for row in keys]
            found, first = first_of_each(np.array(places, np.int64))
            scores = _scores([rows[i] for i in first], found.tolist())
            self._ranked[question, documents] = found, np.array(scores, np.float64)
        return self._ranked[question, documents]


def _refuse_unusable(
    name: str,
    answers: Mapping[str, Answer],
    located: Mapping[Row, Located],
    counts: Mapping[str, float],
    documents: Sequence[Document],
) -> None:
    """Raises ``SettingError`` where scores would say nothing about the retriever called ``name``.

    That is: no question was answered, no row came back, or more than half of the rows match no document.
    """
    if all(answer.error for answer in answers.values()):
        said = f"{name} answered no question ({len(answers):,} asked). The first: "
        raise SettingError(f"{said}{next(iter(answers.values())).error}.", key="retriever")
    if not counts["rows"]:
        raise SettingError(
            f"{name} returned no row for any question ({len(answers):,} asked). Is its index filled? "
            f"The first question was: {line(next(iter(answers)))}",
            key="retriever",
        )
    if 2 * counts["unmapped_rows"] > counts["rows"]:
        rows = dict.fromkeys(key(row) for answer in answers.values() for row in answer.rows)
        lost = [row for row in rows if not located[row].span]
        ids = ", ".join(document.doc_id for document in documents[:3])
        raise SettingError(
            f"{counts['unmapped_rows']:,.0f} of {counts['rows']:,.0f} rows that {name} returned match no "
            f"document. For instance: {'; '.join(_look(row, located[row]) for row in lost[:2])}. "
            f"Documents have ids such as {ids}. Give corpus.path the documents that its index holds. "
            "A row is a text, (row, score), or an object with id and text (docs/own-retriever.md).",
            key="retriever",
        )


def _look(row: Row, located: Located) -> str:
    """A row that matches nothing, on a line, and why."""
    fields = {"id": row.id, "start": row.start, "end": row.end, "text": row.text and line(row.text)}
    shown = row.given or str({name: value for name, value in fields.items() if value is not None})
    return f"{line(shown, 120)} ({located.reason})"


def _scores(given: Sequence[Row], rows: Sequence[int]) -> list[float]:
    """The given scores if they agree with the order (equal ones: smaller row first), else -1, -2, ..."""
    scores = [float("nan") if row.score is None else float(np.float32(row.score)) for row in given]
    order = [(-score, row) for score, row in zip(scores, rows, strict=True)]
    if np.isfinite(scores).all() and order == sorted(order):
        return scores
    return [-float(rank) for rank in range(1, len(given) + 1)]
