"""Offsets counted in characters that are not white space: what a chunker that strips blanks can't lose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.records import Document, IntArray

# All white space of Unicode lies below this code point.
_LIMIT = 0x3001
# 1 for what is not; the last entry stands for all code points above.
_INK = np.array([not chr(code).isspace() for code in range(_LIMIT)] + [True], dtype=np.int32)


class NonblankOffsets:
    """Turns character offsets of some documents into counts of the non-blank characters before them.

    ``documents``: all documents; ``used`` int64: the positions of those that will be asked for (only these
    are read). What is white space is Python's ``str.isspace``.
    """

    def __init__(self, documents: Sequence[Document], used: IntArray) -> None:
        self._base = np.full(len(documents) + 1, -1, dtype=np.int64)
        self._length = np.zeros(len(documents) + 1, dtype=np.int64)
        counts = [np.zeros(0, dtype=np.int32)]
        total = 0
        for doc in np.unique(used[used >= 0]):
            before = _ink_before(documents[doc].text)
            self._base[doc], self._length[doc] = total, len(before) - 1
            counts.append(before)
            total += len(before)
        self._counts = np.concatenate(counts)

    def before(self, doc: IntArray, offset: IntArray) -> IntArray:
        """int64 (offsets,): non-blank characters of document ``doc`` before ``offset``.

        Past the end of the text, and in a document that is not there (negative), every character counts as
        non-blank.
        """
        doc = np.maximum(doc, -1)
        known = self._base[doc] >= 0
        inside = np.where(known, np.minimum(offset, self._length[doc]), 0)
        if not len(self._counts):
            return offset - inside
        return (
            np.where(known, self._counts[np.where(known, self._base[doc] + inside, 0)], 0) + offset - inside
        )


def _ink_before(text: str) -> npt.NDArray[np.int32]:
    """int32 (len(text) + 1,): non-blank characters before each offset."""
    codes: npt.NDArray[Any]
    if text.isascii():
        codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    else:
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    before = np.zeros(len(codes) + 1, dtype=np.int32)
    np.cumsum(_INK.take(codes, mode="clip"), out=before[1:])
    return before
