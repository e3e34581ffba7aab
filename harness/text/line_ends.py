r"""Lines that end in ``\r\n`` or ``\r``, read as if they ended in ``\n``, and offsets in both."""

from __future__ import annotations

import re

import numpy as np

from harness.records import IntArray

_PAIR = re.compile("\r\n")


def unified(text: str) -> str:
    r"""``text`` with ``\n`` for every kind of line end; itself where it has no other."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class LineEnds:
    r"""A text, the same with every line end as ``\n`` (``unified``), and offsets of the one in the other.

    An offset that lies within a ``\r\n`` has no counterpart: it is taken as the one before the pair.
    """

    def __init__(self, text: str) -> None:
        self.unified = unified(text)
        pairs = [match.start() for match in _PAIR.finditer(text)]
        self._pairs = np.array(pairs, np.int64)
        self._lines = self._pairs - np.arange(len(pairs))  # where they stand in the unified text

    def original(self, offsets: IntArray) -> IntArray:
        """Offsets into the text of ``offsets`` into the unified one, int64 of the same shape."""
        return offsets + np.searchsorted(self._lines, offsets)

    def in_unified(self, offsets: IntArray) -> IntArray:
        """Offsets into the unified text of ``offsets`` into the text, int64 of the same shape."""
        return offsets - np.searchsorted(self._pairs, offsets)
