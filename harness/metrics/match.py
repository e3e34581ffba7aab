"""Labels against chunks, then against a ranking: what all measures share is computed here, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.metrics.characters import count_characters
from harness.metrics.coverage import Coverage, Reach, coverage_of_documents, coverage_of_spans
from harness.metrics.intervals import meeting
from harness.metrics.nonblank import NonblankOffsets
from harness.metrics.reading import cut_at, reach_of_budget, tokens_read
from harness.metrics.relevance import (
    UNRANKED,
    EvidenceColumns,
    Overlap,
    Relevant,
    best_grades,
    evidence_columns,
    gaining,
    is_relevant,
    nonblank_overlap,
    ranks_of,
)
from harness.metrics.scoring_inputs import ScoringInputs
from harness.records import Chunks, FloatArray, IntArray, Kind, Question, Ranking
from harness.text.tokens import TokenMap


class Rules(NamedTuple):
    """The settings that say what counts: see ``Suite``."""

    budgets: tuple[int, ...]
    cuts_last_row: bool
    min_overlap: float
    complete_at: float


@dataclass(frozen=True)
class Matches:
    """Which rows are relevant to which question, before anything is ranked.

    ``chunks`` are those that an LLM reads. ``question``, ``row``, ``span`` int64 (pairs,): every pair of an
    evidence span and a row that it shares a character with, by question; ``is_relevant`` bool (pairs,).
    ``overlap``, ``nonblank``: what they share; None for documents. ``denied``: the same of the places that
    were judged not relevant; None where there are none.
    """

    kind: Kind
    chunks: Chunks
    labels: EvidenceColumns
    question: IntArray
    row: IntArray
    span: IntArray
    is_relevant: npt.NDArray[np.bool_]
    overlap: Overlap | None = None
    nonblank: NonblankOffsets | None = None
    denied: Matches | None = None

    def known(self, ranking: Ranking) -> FloatArray:
        """float64 (questions, depth): 1 for rows of which something is known, else 0; nan for no row."""
        known = np.where(ranking.rows < 0, np.nan, 0.0)
        for some in (self, *([self.denied] if self.denied else [])):
            relevant = some.relevant(some.ranks(ranking))
            ranked = relevant.rank <= ranking.depth
            known[relevant.question[ranked], relevant.rank[ranked] - 1] = 1.0
        return known

    def relevant_rows(self) -> list[IntArray]:
        """The relevant rows of each question that a retriever can return.

        A document without chunks can't come back.
        """
        rows = self.relevant(np.zeros(len(self.row), dtype=np.int64)).rows_of(self.labels.questions)
        if self.kind == "span":
            return rows
        return [some[self.is_indexed(some)] for some in rows]

    def is_indexed(self, docs: IntArray) -> npt.NDArray[np.bool_]:
        """For each of ``docs``, positions of documents, bool: it has chunks. Negative ones have none."""
        indexed = np.concatenate((np.diff(self.chunks.doc_rows) > 0, [False]))
        has_chunks: npt.NDArray[np.bool_] = indexed[np.maximum(docs, -1)]
        return has_chunks

    def ranks(self, ranking: Ranking) -> IntArray:
        """int64 (pairs,): the rank, from 1, of each pair's row in ``ranking``, else ``UNRANKED``."""
        rows = len(self.chunks.documents) if self.kind == "document" else len(self.chunks)
        return ranks_of(ranking.rows, self.question, self.row, rows)

    def relevant(self, ranks: IntArray) -> Relevant:
        """One entry per question and relevant row; ``ranks`` int64 (pairs,)."""
        of = self.is_relevant
        grade = self.labels.span_grade[self.span]
        return best_grades(self.question[of], self.row[of], grade[of], ranks[of])

    def first_rank(self, ranking: Ranking) -> IntArray:
        """int64 (questions,): the rank, from 1, of the first relevant row in ``ranking``; 0 without one."""
        best = np.full(self.labels.questions, UNRANKED, dtype=np.int64)
        np.minimum.at(best, self.question[self.is_relevant], self.ranks(ranking)[self.is_relevant])
        return np.where(best == UNRANKED, 0, best)

    def group_rank(self, ranks: IntArray) -> IntArray:
        """int64 (groups,): the best rank of a row that is relevant to each group of evidence."""
        best = np.full(self.labels.groups, UNRANKED, dtype=np.int64)
        group = self.labels.span_group[self.span[self.is_relevant]]
        np.minimum.at(best, group, ranks[self.is_relevant])
        return best


def match(kind: Kind, questions: Sequence[Question], chunks: Chunks, min_overlap: float) -> Matches:
    """The rows of ``chunks`` (or their documents) that are relevant to ``questions``, all of one kind."""
    labels = evidence_columns(questions, chunks)
    if kind == "document":
        span = np.arange(len(labels.span_doc))
        return Matches(
            kind,
            chunks,
            labels,
            labels.span_question,
            labels.span_doc,
            span,
            np.ones(len(span), dtype=np.bool_),
        )
    nonblank = NonblankOffsets(chunks.documents, labels.span_doc)
    pairs = meeting(chunks, labels.span_doc, labels.span_start, labels.span_end)
    overlap = nonblank_overlap(chunks, labels, pairs, nonblank)
    question, good = labels.span_question[overlap.span], is_relevant(overlap, min_overlap)
    return Matches(kind, chunks, labels, question, overlap.row, overlap.span, good, overlap, nonblank)


def scoring_inputs(
    matches: Matches,
    ranking: Ranking,
    first_rank: IntArray,
    maps: Sequence[TokenMap],
    ks: Sequence[int],
    rules: Rules,
) -> ScoringInputs:
    """What the measures see of ``ranking``; see ``Metrics.score`` for the arguments."""
    ranks = matches.ranks(ranking)
    chunks, labels, overlap, nonblank = matches.chunks, matches.labels, matches.overlap, matches.nonblank
    reach_of: dict[int, Reach] = {}
    characters = None
    if overlap is None or nonblank is None:  # whole documents
        coverage = _document_coverage(matches, ranks)
        lengths = np.array([*map(len, maps), 0], dtype=np.int64)
        tokens = np.cumsum(lengths[ranking.rows], axis=1, dtype=np.int64)
    else:
        coverage = coverage_of_spans(labels, overlap, ranks)
        tokens = tokens_read(chunks, ranking.rows)
        nothing = np.full(len(tokens), -1, dtype=np.int64)
        for budget in rules.budgets:
            cut = cut_at(budget, tokens, ranking.rows, chunks, maps) if rules.cuts_last_row else nothing
            reach_of[budget] = reach_of_budget(budget, tokens, ranking.rows, cut, chunks, nonblank)
        characters = count_characters(chunks, labels, ranking, ks)
    relevant, of = matches.relevant(ranks), matches.is_relevant
    return ScoringInputs(
        kind=matches.kind,
        ks=tuple(ks),
        complete_at=rules.complete_at,
        labels=labels,
        relevant=relevant,
        gaining=gaining(labels, matches.question[of], matches.row[of], matches.span[of], relevant),
        group_rank=matches.group_rank(ranks),
        first_rank=np.where(first_rank <= 0, np.nan, first_rank.astype(np.float64)),
        coverage=coverage,
        tokens=tokens,
        reach_of=reach_of,
        characters=characters,
        nonblank=nonblank,
        known=matches.known(ranking),
    )


def _document_coverage(matches: Matches, ranks: IntArray) -> Coverage:
    labels = matches.labels
    present = np.nonzero(matches.is_indexed(labels.span_doc))[0]
    return coverage_of_documents(labels, present, ranks[present])
