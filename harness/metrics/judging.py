"""Rankings and labels into what the measures see; the work that all of them share is done here, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.metrics import FirstRanks
from harness.metrics.characters import count_characters
from harness.metrics.coverage import coverage_of_documents, coverage_of_spans
from harness.metrics.judged import Judged
from harness.metrics.labels import Labels, read_labels
from harness.metrics.nonblank import NonblankOffsets
from harness.metrics.overlap import meeting
from harness.metrics.reading import reach_of_budget, tokens_read
from harness.metrics.relevance import UNRANKED, Relevant, best_grades, is_relevant, nonblank_overlap, ranks_of
from harness.records import Chunks, FloatArray, IntArray, Kind, Question, Ranking
from harness.text.tokens import TokenMap


class Rules(NamedTuple):
    """The settings that say what counts: see ``Suite``."""

    budgets: tuple[int, ...]
    min_overlap: float
    complete_at: float


def judge(
    kind: Kind,
    questions: Sequence[Question],
    ranking: Ranking,
    chunks: Chunks,
    maps: Sequence[TokenMap],
    ks: Sequence[int],
    first_ranks: FirstRanks,
    rules: Rules,
) -> Judged:
    """The rankings of ``questions``, all of one kind, judged; see ``Metrics.score`` for the arguments."""
    labels = read_labels(questions, chunks)
    if kind == "document":
        return _judge_documents(labels, ranking, chunks, maps, tuple(ks), first_ranks, rules)
    nonblank = NonblankOffsets(chunks.documents, labels.place_doc)
    pairs = meeting(chunks, labels.place_doc, labels.place_start, labels.place_end)
    overlap = nonblank_overlap(chunks, labels, pairs, nonblank)
    question = labels.place_question[overlap.place]
    rank = ranks_of(ranking.rows, question, overlap.row, len(chunks))
    good = is_relevant(overlap, rules.min_overlap)
    relevant = best_grades(
        question[good], overlap.row[good], labels.place_grade[overlap.place][good], rank[good]
    )
    tokens = tokens_read(chunks, ranking.rows)
    return Judged(
        kind=kind,
        ks=tuple(ks),
        budgets=rules.budgets,
        complete_at=rules.complete_at,
        labels=labels,
        relevant=relevant,
        unit_rank=_unit_rank(labels, overlap.place[good], rank[good]),
        first_rank=_first_rank(labels.questions, relevant, relevant.rows_of(labels.questions), first_ranks),
        coverage=coverage_of_spans(labels, overlap, rank),
        tokens=tokens,
        reach_of={b: reach_of_budget(b, tokens, ranking.rows, chunks, maps, nonblank) for b in rules.budgets},
        characters=count_characters(chunks, labels, ranking, max(ks, default=0)),
        nonblank=nonblank,
    )


def _judge_documents(
    labels: Labels,
    ranking: Ranking,
    chunks: Chunks,
    maps: Sequence[TokenMap],
    ks: tuple[int, ...],
    first_ranks: FirstRanks,
    rules: Rules,
) -> Judged:
    rank = ranks_of(ranking.rows, labels.place_question, labels.place_doc, len(chunks.documents))
    relevant = best_grades(labels.place_question, labels.place_doc, labels.place_grade, rank)
    # A document without chunks can't come back, so nobody is asked for its rank.
    indexed = np.concatenate((np.diff(chunks.doc_rows) > 0, [False]))
    present = np.nonzero(indexed[np.maximum(labels.place_doc, -1)])[0]
    asked = [rows[indexed[np.maximum(rows, -1)]] for rows in relevant.rows_of(labels.questions)]
    lengths = np.array([*map(len, maps), 0], dtype=np.int64)
    return Judged(
        kind="document",
        ks=ks,
        budgets=(),
        complete_at=rules.complete_at,
        labels=labels,
        relevant=relevant,
        unit_rank=_unit_rank(labels, np.arange(len(rank)), rank),
        first_rank=_first_rank(labels.questions, relevant, asked, first_ranks),
        coverage=coverage_of_documents(labels, present, rank[present]),
        tokens=np.cumsum(lengths[ranking.rows], axis=1, dtype=np.int64),
        reach_of={},
        characters=None,
        nonblank=None,
    )


def _unit_rank(labels: Labels, place: IntArray, rank: IntArray) -> IntArray:
    """The best rank of each unit, over the pairs of a place and a relevant row."""
    best = np.full(labels.units, UNRANKED, dtype=np.int64)
    np.minimum.at(best, labels.place_unit[place], rank)
    return best


def _first_rank(
    questions: int, relevant: Relevant, rows: Sequence[IntArray], first_ranks: FirstRanks
) -> FloatArray:
    """Rank of the first relevant row; only what the rankings do not show is asked for."""
    best = np.full(questions, UNRANKED, dtype=np.int64)
    np.minimum.at(best, relevant.question, relevant.rank)
    unknown = best == UNRANKED
    nothing = np.zeros(0, dtype=np.int64)
    wanted = [found if ask else nothing for found, ask in zip(rows, unknown.tolist(), strict=True)]
    if any(len(found) for found in wanted):
        best = np.where(unknown, first_ranks(wanted), best)
    return np.where((best == UNRANKED) | (best <= 0), np.nan, best.astype(np.float64))
