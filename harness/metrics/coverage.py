"""How much of each evidence has been read: the union of rows, white space aside, best of the alternatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from harness.metrics.labels import Labels
from harness.metrics.overlap import cut_into_pieces
from harness.metrics.relevance import UNRANKED, Overlap
from harness.metrics.sums import sum_by
from harness.records import FloatArray, IntArray


class Reach(NamedTuple):
    """How far each question's ranking was read; int64 (questions,) each.

    ``whole``: so many rows in full. ``cut``: the character offset at which the next row was cut, -1 where it was not read.
    ``cut_nonblank``: the same in non-blank characters of its document, -1 where none was read.
    """

    whole: IntArray
    cut: IntArray
    cut_nonblank: IntArray


class Gains(NamedTuple):
    """Each step by which a unit's coverage grew: unit int64, rank int64 and growth float64 (steps,)."""

    unit: IntArray
    rank: IntArray
    growth: FloatArray


@dataclass(frozen=True)
class Coverage:
    """The evidence cut into pieces, each with the rank at which it is first read.

    ``place_unit``, ``place_total`` int64 (places,): the unit, and the characters that make it covered. The others are
    int64 (pieces,): the question and place of the piece, where it starts and how long it is in non-blank characters, and the
    rank of the first row that holds it (``UNRANKED`` if none is in the ranking). A whole document is one piece of length 1.
    """

    units: int
    place_unit: IntArray
    place_total: IntArray
    question: IntArray
    place: IntArray
    start: IntArray
    length: IntArray
    rank: IntArray

    def place_shares(self, reach: Reach) -> FloatArray:
        """float64 (places,): the share of each place that was read."""
        whole = reach.whole[self.question]
        part = np.clip(reach.cut_nonblank[self.question] - self.start, 0, self.length)
        read = np.where(self.rank <= whole, self.length, np.where(self.rank == whole + 1, part, 0))
        return self._shares(self.place, read)

    def reachable(self) -> FloatArray:
        """float64 (units,): the share of each unit that the index as a whole holds."""
        return self._best(self._shares(self.place, self.length))

    def covered(self, reach: Reach) -> FloatArray:
        """float64 (units,): the share of each unit that was read, by the best of its places."""
        return self._best(self.place_shares(reach))

    def gains(self) -> Gains:
        """The steps of coverage over the ranking, by unit and then by rank. Copies of what was read add nothing."""
        order = np.lexsort((self.rank, self.place))
        order = order[self.rank[order] != UNRANKED]
        place, rank = self.place[order], self.rank[order]
        running = np.cumsum(self.length[order])
        new = np.concatenate(([True], place[1:] != place[:-1])) if len(place) else np.zeros(0, dtype=np.bool_)
        before = (running - self.length[order])[new]
        share = (running - before[np.cumsum(new) - 1]) / np.maximum(self.place_total[place], 1)
        unit = self.place_unit[place]
        order = np.lexsort((share, rank, unit))
        unit, rank, share = unit[order], rank[order], share[order]
        # Shares as their place in the sorted list of shares: a running maximum per unit, free of rounding.
        levels, level = np.unique(np.concatenate(([0.0], share)), return_inverse=True)
        best = levels[np.maximum.accumulate(unit * len(levels) + level[1:]) - unit * len(levels)]
        previous = np.concatenate(([0.0], best[:-1])) if len(best) else best
        previous[np.concatenate(([True], unit[1:] != unit[:-1]))[: len(unit)]] = 0.0
        return Gains(unit, rank, best - previous)

    def _shares(self, place: IntArray, characters: IntArray) -> FloatArray:
        # Sums of whole numbers below 2**53 are exact in float64.
        total = sum_by(place, characters, len(self.place_unit))
        return total / np.maximum(self.place_total, 1)

    def _best(self, shares: FloatArray) -> FloatArray:
        if not self.units:
            return np.zeros(0)
        return np.maximum.reduceat(shares, np.searchsorted(self.place_unit, np.arange(self.units)))


def coverage_of_spans(labels: Labels, overlap: Overlap, rank: IntArray) -> Coverage:
    """The coverage by chunks; ``rank`` int64 (pairs,) is the rank of each pair's row."""
    whole = labels.place_whole[overlap.place] == 1
    low = np.where(whole, 0, overlap.low)
    pieces = cut_into_pieces(overlap.place, low, np.where(whole, 1, overlap.high))
    totals = np.ones(len(labels.place_unit), dtype=np.int64)
    totals[overlap.place] = np.where(whole, 1, overlap.of_place)
    # Any row of a whole document covers it, however early it is cut.
    start = np.where(labels.place_whole[pieces.span] == 1, -1, pieces.start)
    return Coverage(
        labels.units,
        labels.place_unit,
        totals,
        labels.place_question[pieces.span],
        pieces.span,
        start,
        pieces.length,
        pieces.smallest(rank),
    )


def coverage_of_documents(labels: Labels, present: IntArray, rank: IntArray) -> Coverage:
    """The coverage by document rows; ``present`` int64: the places whose document is there, ``rank`` its rank."""
    ones = np.ones(len(labels.place_unit), dtype=np.int64)
    return Coverage(
        labels.units,
        labels.place_unit,
        ones,
        labels.place_question[present],
        present,
        -ones[present],
        ones[present],
        rank,
    )
