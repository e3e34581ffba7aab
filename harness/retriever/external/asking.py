"""An external retriever, which returns its own chunks, as a searcher like the built-in ones.

A live system may change at any time, so its answers are not cached between sweeps; within a cell every
question is asked once, and again only where the answer must be deeper.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from harness.errors import SettingError
from harness.records import Chunks, FloatArray, IntArray, Kind, Question, Ranking
from harness.retriever import LATENCY_DEPTH, Answer, Depth, OwnRetriever, Prepared, Row
from harness.retriever.external.locating import Located, key, locate
from harness.retriever.external.returned import pool, problems
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

        Raises ``SettingError`` when no question is answered, no row is in any document, or
        ``retriever.depth`` is below the largest k.
        """
        depth, open_ = (
            self._first_depth(ks, metrics),
            {q.text: q for of_kind in questions.values() for q in of_kind},
        )
        if not open_:
            return Prepared(chunks, tokens)
        asked = list(open_)
        while open_:
            self._ask(list(open_), depth)
            rows = [row for text in asked for row in self._answers[text].rows]
            self._located |= locate((row for row in rows if key(row) not in self._located), chunks.documents)
            self._refuse_nothing(asked, rows, chunks)
            self._pool = pool(rows, self._located, chunks.documents, tokens, self._tokenizer)
            self._ranked: dict[tuple[str, bool], tuple[IntArray, FloatArray]] = {}
            if self._retriever.depth or depth >= MOST_ROWS:
                break
            open_ = {text: q for text, q in open_.items() if not self._is_enough(q, depth, ks, metrics)}
            depth = min(2 * depth, MOST_ROWS)
        wrong = problems(questions, self._answers, self._located, max(ks))
        return Prepared(self._pool.chunks, self._pool.tokens, *wrong)

    def search(self, questions: Sequence[str], depth: int, groups: IntArray | None = None) -> Ranking:
        """The first ``depth`` rows of each answer; with ``groups``, documents by their first row.

        A chunk that came back twice stands there twice.
        """
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
                self._answers[text] = answer

    def _is_enough(self, question: Question, depth: int, ks: Sequence[int], metrics: Depth) -> bool:
        """Every budget is filled, or for whole documents the largest k; or no more came back than this."""
        if len(self._answers[question.text].rows) < depth:
            return True
        if question.kind == "document":
            return len(self._in_order(question.text, documents=True)[0]) >= max(ks)
        return metrics.is_deep_enough(self._pool.chunks, self.search([question.text], depth))

    def _in_order(self, question: str, *, documents: bool) -> tuple[IntArray, FloatArray]:
        """The rows of the whole answer, and their scores; with ``documents``, each document once."""
        if (question, documents) not in self._ranked:
            rows = self._answers[question].rows
            keys = [key(row) for row in rows]
            places = [self._pool.row(row, self._located[row], documents=documents) for row in keys]
            found, scores = np.array(places, np.int64), np.array(_scores(rows, places), np.float64)
            if documents:
                found, first = first_of_each(found)
                scores = scores[first]
            self._ranked[question, documents] = found, scores
        return self._ranked[question, documents]

    def _refuse_nothing(self, asked: Sequence[str], rows: Sequence[Row], chunks: Chunks) -> None:
        """A score of 0 because nobody was there, or because ids are others, would be wrong and not bad."""
        name = self._retriever.name
        if all(self._answers[text].error for text in asked):
            raise SettingError(
                f"{name} answered none of the {len(asked):,} questions. The first: "
                f"{self._answers[asked[0]].error}.",
                key="retriever",
            )
        if rows and all(self._located[key(row)].doc < 0 for row in rows):
            ids = ", ".join(document.doc_id for document in chunks.documents[:3])
            raise SettingError(
                f"None of the {len(rows):,} rows that {name} gave is in these documents. "
                f"The first has the id {rows[0].id!r}: "
                f"{self._located[key(rows[0])].reason}. Documents have ids such as {ids}.",
                key="retriever",
            )


def _scores(given: Sequence[Row], rows: Sequence[int]) -> list[float]:
    """The given scores if they agree with the order (equal ones: smaller row first), else -1, -2, ..."""
    scores = [float("nan") if row.score is None else float(np.float32(row.score)) for row in given]
    order = [(-score, row) for score, row in zip(scores, rows, strict=True)]
    if np.isfinite(scores).all() and order == sorted(order):
        return scores
    return [-float(rank) for rank in range(1, len(given) + 1)]
