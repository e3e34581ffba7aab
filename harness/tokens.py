"""The sweep's one tokenizer: sizes and budgets are counted by it, never by each model's own.

Chunk boundaries must not change with the model axis, and a budget of 2,000 tokens must mean the same text in
every cell. A text is tokenised once; after that a count or a cut is a search in a sorted array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from harness.records import IntArray


@dataclass(frozen=True, slots=True)
class TokenMap:
    """Where the tokens of one text begin.

    ``starts``: int64 (tokens,), strictly increasing character offsets. ``length``: characters of the text. A token
    belongs to the span in which it starts, so counts of adjacent spans add up to the count of their union.
    """

    starts: IntArray
    length: int

    def __len__(self) -> int:
        return len(self.starts)

    def count(self, start: int, end: int) -> int:
        """Tokens that start in ``[start, end)``."""
        low, high = np.searchsorted(self.starts, (start, end))
        return int(high - low)

    def cut(self, start: int, tokens: int) -> int:
        """The largest offset ``end`` with ``count(start, end) == tokens``, or the text's length if it has fewer."""
        first = int(np.searchsorted(self.starts, start))
        return int(self.starts[first + tokens]) if first + tokens < len(self.starts) else self.length


class Tokenizer(Protocol):
    """Anything that maps texts to where their tokens begin."""

    name: str
    digest: str

    def map(self, texts: list[str]) -> list[TokenMap]:
        """One map per text, in order."""
