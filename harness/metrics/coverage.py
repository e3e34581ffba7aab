"""How much of each evidence has been read: the union of rows, white space aside, best of the alternatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.metrics.intervals import cut_into_pieces, sum_by
from harness.metrics.relevance import UNRANKED, EvidenceColumns, Overlap
from harness.records import FloatArray, IntArray


class Reach(NamedTuple):
    """How far each question's ranking was read; int64 (questions,) each.

    ``whole``: so many rows in full. ``cut``: the character offset at which the next row was cut, -1 where it
    was not read. ``cut_nonblank``: the same in non-blank characters of its document, -1 where none was read.
    """

    whole: IntArray
    cut: IntArray
    cut_nonblank: IntArray


class Gains(NamedTuple):
    """Each step by which a group's coverage grew: group int64, rank int64 and growth float64 (steps,)."""

    group: IntArray
    rank: IntArray
    growth: FloatArray


@dataclass(frozen=True)
class Coverage:
    """The evidence cut into pieces, each with the rank at which it is first read.

    ``span_group``, ``span_total`` int64 (spans,): the group, and the characters that make it covered. The
    others are int64 (pieces,): the question and span of the piece, where it starts and how long it is in
    non-blank characters, and the rank of the first row that holds it (``UNRANKED`` if none is in the
    ranking). A whole document is one piece of length 1.
    """

    groups: int
    span_group: IntArray
    span_total: IntArray
    question: IntArray
    span: IntArray
    start: IntArray
    length: IntArray
    rank: IntArray

    def span_shares(self, reach: Reach) -> FloatArray:
        """float64 (spans,): the share of each span that was read."""
        whole = reach.whole[self.question]
        part = np.clip(reach.cut_nonblank[self.question] - self.start, 0, self.length)
        read = np.where(self.rank <= whole, self.length, np.where(self.rank == whole + 1, part, 0))
        return self._shares(self.span, read)

    def reachable(self) -> FloatArray:
        """float64 (groups,): the share of each group that the index as a whole holds."""
        return self._best(self._shares(self.span, self.length))

    def covered(self, reach: Reach) -> FloatArray:
        """float64 (groups,): the share of each group that was read, by the best of its spans."""
        return self._best(self.span_shares(reach))

    def gains(self) -> Gains:
        """The steps of coverage over the ranking, by group and then by rank.

        Copies of what was read add nothing.
        """
        order = np.lexsort((self.rank, self.span))
        order = order[self.rank[order] != UNRANKED]
        span, rank = self.span[order], self.rank[order]
        running = np.cumsum(self.length[order])
        new = np.concatenate(([True], span[1:] != span[:-1])) if len(span) else np.zeros(0, dtype=np.bool_)
        before = (running - self.length[order])[new]
        share = (running - before[np.cumsum(new) - 1]) / np.maximum(self.span_total[span], 1)
        group = self.span_group[span]
        order = np.lexsort((share, rank, group))
        group, rank, share = group[order], rank[order], share[order]
        # Shares as their position in the sorted list of shares: a running maximum per group, free of
        # rounding.
        levels, level = np.unique(np.concatenate(([0.0], share)), return_inverse=True)
        best = levels[np.maximum.accumulate(group * len(levels) + level[1:]) - group * len(levels)]
        previous = np.concatenate(([0.0], best[:-1])) if len(best) else best
        previous[np.concatenate(([True], group[1:] != group[:-1]))[: len(group)]] = 0.0
        return Gains(group, rank, best - previous)

    def _shares(self, span: IntArray, characters: IntArray) -> FloatArray:
        # Sums of whole numbers below 2**53 are exact in float64.
        total = sum_by(span, characters, len(self.span_group))
        return total / np.maximum(self.span_total, 1)

    def _best(self, shares: FloatArray) -> FloatArray:
        if not self.groups:
            return np.zeros(0)
        return np.maximum.reduceat(shares, np.searchsorted(self.span_group, np.arange(self.groups)))


def coverage_of_spans(labels: EvidenceColumns, overlap: Overlap, rank: IntArray) -> Coverage:
    """The coverage by chunks; ``rank`` int64 (pairs,) is the rank of each pair's row."""
    whole = labels.span_whole[overlap.span] == 1
    low = np.where(whole, 0, overlap.low)
    pieces = cut_into_pieces(overlap.span, low, np.where(whole, 1, overlap.high))
    totals = np.ones(len(labels.span_group), dtype=np.int64)
    totals[overlap.span] = np.where(whole, 1, overlap.of_span)
    # Any row of a whole document covers it, however early it is cut.
    start = np.where(labels.span_whole[pieces.span] == 1, -1, pieces.start)
    return Coverage(
        labels.groups,
        labels.span_group,
        totals,
        labels.span_question[pieces.span],
        pieces.span,
        start,
        pieces.length,
        pieces.smallest(rank),
    )


def coverage_of_documents(labels: EvidenceColumns, present: IntArray, rank: IntArray) -> Coverage:
    """The coverage by document rows.

    ``present`` int64: the spans whose document is there; ``rank``: its rank.
    """
    ones = np.ones(len(labels.span_group), dtype=np.int64)
    return Coverage(
        labels.groups,
        labels.span_group,
        ones,
        labels.span_question[present],
        present,
        -ones[present],
        ones[present],
        rank,
    )
