"""The best items of many queries, found while scores stream by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.index.blocks import ScoreBlock
from harness.records import Float32Array, Ranking

Keys = npt.NDArray[np.uint64]
_NOTHING = np.uint64(2**64 - 1)
_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)
_SIGN = np.int32(-(2**31))
_LEAST_ROOM = 64


class Best:
    """The ``depth`` best items of each of ``queries`` queries among all blocks added so far.

    Only scores that reach the ``depth``-th so far are looked at; ``looked_at`` counts them. Score and item
    are stored as one number whose order is the order of the ranking, so nothing is left to a sort's choice.
    ``repeats``: an item may come more than once; its best score counts.
    """

    def __init__(self, queries: int, depth: int, *, repeats: bool) -> None:
        self.looked_at = 0
        self._depth = depth
        self._repeats = repeats
        # The best so far stand in the first columns; what comes after that is added behind them until a row
        # is full.
        self._room = max(depth, _LEAST_ROOM)
        self._table = np.full((queries, depth + self._room), _NOTHING, np.uint64)
        self._filled = np.zeros(queries, np.int64)
        self._least = np.full((queries, 1), np.finfo(np.float32).min, np.float32)
        self._reaches = np.empty(0, bool)

    def add(self, block: ScoreBlock) -> None:
        """Takes the scores of a block."""
        query, column = self._look(block.scores)
        new = np.bincount(query, minlength=len(self._filled))
        if (self._filled + new).max() > self._room:
            self._settle()
            if new.max() > self._room:
                # Too many at once: in parts, each of which leaves less to look at in the next.
                for first in range(0, len(block.items), self._room):
                    part = slice(first, first + self._room)
                    self.add(ScoreBlock(block.scores[:, part], block.items[part], -1))
                return
        self.looked_at += len(query)
        keys = _keys(block.scores[query, column], block.items[column])
        begin = np.arange(len(new)) * self._table.shape[1] + self._depth + self._filled - np.cumsum(new) + new
        self._table.reshape(-1)[begin[query] + np.arange(len(query))] = keys
        self._filled += new

    def ranking(self) -> Ranking:
        """The items, best first, -1 where there were fewer; their scores."""
        self._settle()
        best = np.sort(self._table[:, : self._depth], axis=1)
        rows, scores = (best & _LOW).astype(np.int64), _scores(best)
        rows[best == _NOTHING], scores[best == _NOTHING] = -1, -np.inf
        return Ranking(rows, scores)

    def _look(self, scores: Float32Array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Query, ascending, and column of the scores that are good enough."""
        if len(self._reaches) < scores.size:
            self._reaches = np.empty(scores.size, bool)
        reaches = self._reaches[: scores.size].reshape(scores.shape)
        found = np.flatnonzero(np.greater_equal(scores, self._least, out=reaches))
        query = found // scores.shape[1]
        return query, found - query * scores.shape[1]

    def _settle(self) -> None:
        """Moves the best to the first columns; the score of the worst of them is the new threshold."""
        if self._repeats:
            _leave_best_of_each(self._table)
        self._table.partition(self._depth - 1, axis=1)
        self._table[:, self._depth :] = _NOTHING
        self._filled[:] = 0
        worst = self._table[:, self._depth - 1 : self._depth]
        full = worst != _NOTHING
        self._least[full] = _scores(worst[full])


def _keys(scores: Float32Array, items: npt.NDArray[np.int64]) -> Keys:
    """Score and item as one number: the smaller, the better; equal scores by the smaller item."""
    bits = (scores + np.float32(0)).view(np.int32)  # the sum makes -0 and 0 equal
    # Floats as integers rise with the number above 0 and fall below it; all bits but the sign are turned
    # there.
    falling = ~(bits ^ ((bits >> 31) | _SIGN)).view(np.uint32)
    return (falling.astype(np.uint64) << _HALF) | items.astype(np.uint64)


def _scores(keys: Keys) -> Float32Array:
    """The score in each key, to the last bit."""
    rising = ~(keys >> _HALF).astype(np.uint32).view(np.int32)
    return (rising ^ (~(rising >> 31) | _SIGN)).view(np.float32)


def _leave_best_of_each(table: Keys) -> None:
    """Leaves the best key of each item in a row of the table, in place."""
    by_item = (table << _HALF) | (table >> _HALF)
    by_item.sort(axis=1)
    again = np.zeros(table.shape, bool)
    again[:, 1:] = (by_item[:, 1:] >> _HALF) == (by_item[:, :-1] >> _HALF)
    table[:] = (by_item << _HALF) | (by_item >> _HALF)
    table[again] = _NOTHING
