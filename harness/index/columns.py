"""Which rows (or groups of rows) stand behind each vector, and the scores of all of them block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from harness.records import Float32Array, IntArray

# The first block is small, so that most of the others need only be compared with what it gave.
FIRST_COLUMNS = 1024


class Columns(NamedTuple):
    """What is ranked: *items*, which are rows or groups of rows.

    ``item`` int64 (vectors,): the first item of each vector, -1 for a vector that no row has. A vector that has more items
    gives them in ``more_item``, and itself in ``more_vector`` (ascending), int64 (others,) both. ``repeats``: an item may have
    more than one vector; it scores as the best.
    """

    item: IntArray
    more_vector: IntArray
    more_item: IntArray
    repeats: bool


class Block(NamedTuple):
    """Scores float32 (queries, columns) and the item of each column. Overwritten by the next block.

    ``first``: the vector of column 0, the columns being neighbours; -1 for a block of items that share vectors with others.
    """

    scores: Float32Array
    items: IntArray
    first: int


def columns_of(vectors: int, vector_of_row: IntArray, groups: IntArray | None) -> Columns:
    """The items behind ``vectors``: the rows, or the groups of rows that the offsets ``groups`` bound."""
    rows = len(vector_of_row)
    item = np.arange(rows)
    if groups is not None:
        item = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
    if rows == vectors and bool((vector_of_row == np.arange(rows)).all()):
        nothing = np.zeros(0, np.int64)
        return Columns(item, nothing, nothing, _repeats(item))
    order = np.argsort(vector_of_row, kind="stable")
    vector, item = vector_of_row[order], item[order]
    fresh = np.ones(rows, bool)
    fresh[1:] = (np.diff(vector) != 0) | (np.diff(item) != 0)
    vector, item = vector[fresh], item[fresh]
    leads = np.ones(len(vector), bool)
    leads[1:] = np.diff(vector) != 0
    first = np.full(vectors, -1, np.int64)
    first[vector[leads]] = item[leads]
    repeats = groups is not None and _repeats(np.sort(item))
    return Columns(first, vector[~leads], item[~leads], repeats)


def _repeats(ascending: IntArray) -> bool:
    return bool((np.diff(ascending) == 0).any())


def blocks(
    queries: Float32Array, vectors: Float32Array, columns: Columns, largest: int, least: int = FIRST_COLUMNS
) -> Iterator[Block]:
    """The scores of all items, at most ``largest`` columns at a time, each vector multiplied once.

    ``vectors`` may be of half precision and on disk: a block at a time is read and made float32. A vector without items scores
    -inf. Items that share a vector share its score to the last bit: a product for each would not promise that.
    """
    buffer = np.empty(len(queries) * largest, np.float32)
    first = 0
    while first < len(vectors):
        # Each block is at most as wide as all before it: the k-th best score of those then leaves little to look at.
        last = min(first + min(largest, max(first, least)), len(vectors))
        scores = buffer[: len(queries) * (last - first)].reshape(len(queries), last - first)
        np.matmul(queries, np.asarray(vectors[first:last], np.float32).T, out=scores)
        items = columns.item[first:last]
        if (items < 0).any():
            scores[:, items < 0] = -np.inf
        yield Block(scores, items, first)
        low, high = np.searchsorted(columns.more_vector, (first, last)).tolist()
        for start in range(low, high, largest):
            more = slice(start, min(start + largest, high))
            yield Block(scores[:, columns.more_vector[more] - first], columns.more_item[more], -1)
        first = last
