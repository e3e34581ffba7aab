"""Interval arithmetic: chunks that meet a span, unions, pieces of spans; sums by group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.records import Chunks, FloatArray, IntArray


class Pairs(NamedTuple):
    """Pairs of a span and a chunk row that meet: int64 (pairs,) each, by span and then by row."""

    span: IntArray
    row: IntArray


class Pieces(NamedTuple):
    """Spans cut at every border of the intervals that lie in them.

    ``span``, ``start``, ``length`` int64 (pieces,); ``member`` int64 (members,) indexes the intervals, those
    that hold piece ``p`` are ``member[first[p] : first[p + 1]]``, never none; ``first`` int64 (pieces,).
    """

    span: IntArray
    start: IntArray
    length: IntArray
    member: IntArray
    first: IntArray

    def smallest(self, values: IntArray) -> IntArray:
        """int64 (pieces,): the smallest of ``values`` (intervals,) in the intervals of each piece."""
        if not len(self.first):
            return np.zeros(0, dtype=np.int64)
        return np.minimum.reduceat(values[self.member], self.first)


def expand(low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """All integers of the ranges ``low[i]`` to ``high[i]`` (left out), each with the ``i`` it comes from."""
    count = np.maximum(high - low, 0)
    owner = np.repeat(np.arange(len(low)), count)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    return owner, low[owner] + offset


def meeting(
    chunks: Chunks, doc: IntArray, start: IntArray, end: IntArray, *, touching: bool = False
) -> Pairs:
    """The chunks that share a character with each span ``[start, end)`` of document ``doc``.

    All are int64 (spans,); a span whose ``doc`` is negative meets nothing. With ``touching``, also those that
    only border on it.
    """
    stride = 2 + max(
        (int(column.max(initial=0)) for column in (chunks.start, chunks.end, start, end)), default=0
    )
    base = chunks.doc * stride
    # A chunk may hold the ones after it, so the first that can meet a span is found by the running maximum of
    # ends.
    reach = np.maximum.accumulate(base + chunks.end)
    low = np.searchsorted(reach, doc * stride + start, side="left" if touching else "right")
    high = np.searchsorted(base + chunks.start, doc * stride + end, side="right" if touching else "left")
    span, row = expand(np.where(doc < 0, 0, low), np.where(doc < 0, 0, high))
    ends, starts = chunks.end[row], start[span]
    kept = (chunks.doc[row] == doc[span]) & (ends >= starts if touching else ends > starts)
    return Pairs(span[kept], row[kept])


def union_lengths(group: IntArray, start: IntArray, end: IntArray, groups: int) -> IntArray:
    """The length of the union of the intervals ``[start, end)`` of each group; int64 (groups,).

    ``group``, ``start``, ``end`` are int64 (intervals,) in any order, offsets not negative; empty intervals
    count nothing.
    """
    stride = 1 + max(int(start.max(initial=0)), int(end.max(initial=0)))
    order = np.lexsort((start, group))
    base = group[order] * stride
    low, high = base + start[order], base + np.maximum(start, end)[order]
    seen = np.maximum.accumulate(np.concatenate(([0], high[:-1]))) if len(order) else high
    fresh = np.maximum(high - np.maximum(low, seen), 0)
    lengths = np.zeros(groups, dtype=np.int64)
    np.add.at(lengths, group[order], fresh)
    return lengths


def cut_into_pieces(span: IntArray, start: IntArray, end: IntArray) -> Pieces:
    """Cuts spans at the borders of the intervals ``[start, end)`` that lie in them; int64 (intervals,) each.

    Parts of a span that no interval holds give no piece; empty intervals hold nothing.
    """
    stride = 1 + int(end.max(initial=0))
    low, high = span * stride + start, span * stride + end
    borders = np.unique(np.concatenate((low, high)))
    member, piece = expand(np.searchsorted(borders, low), np.searchsorted(borders, high))
    order = np.argsort(piece, kind="stable")
    held, first = np.unique(piece[order], return_index=True)
    length = borders[held + 1] - borders[held] if len(held) else held
    return Pieces(borders[held] // stride, borders[held] % stride, length, member[order], first)


def sum_by(group: IntArray, values: FloatArray | IntArray, groups: int) -> FloatArray:
    """float64 (groups,): the sum of ``values`` in each group in the order given, 0 for an empty one.

    Whole numbers below 2**53 are added exactly.
    """
    # Without values numpy would give whole numbers.
    return np.bincount(group, weights=values, minlength=groups).astype(np.float64)
