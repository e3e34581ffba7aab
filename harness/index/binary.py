"""Vectors of one bit a number, the best of them looked at again in full."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from harness.index.candidates import CandidateIndex, check_flag, check_whole
from harness.index.exact import ExactIndex
from harness.records import Float32Array, IntArray

_AT_ONCE = 65536


class BinaryIndex(CandidateIndex):
    """Of each number of a vector only whether it is above 0, as 1 or -1; queries stay as they are.

    ``candidates``: the best vectors by these signs; no more ever come back. ``rescore``: they are put in the
    order of the full vectors, which may lie on disk. A thirty-second of the memory; it is the loss and the
    size that are measured, a search here is no faster than exact. Raises ``SettingError`` for a value that is
    not allowed.
    """

    def __init__(self, candidates: int = 200, *, rescore: bool = True) -> None:
        check_whole("candidates", candidates, 1, "vectors")
        check_flag("rescore", rescore)
        super().__init__(candidates, exact_scores=rescore)

    def megabytes(self) -> float:
        """Size of the bits, in MB (10^6 bytes); the vectors that rescoring reads lie outside."""
        return self._signs.nbytes / 1e6

    def _prepare(self, vectors: Float32Array) -> None:
        bits = np.empty((len(vectors), -(-vectors.shape[1] // 8)), np.uint8)
        for first in range(0, len(vectors), _AT_ONCE):
            some = vectors[first : first + _AT_ONCE]
            bits[first : first + len(some)] = np.packbits(some > 0, axis=1)
        self._signs = _Signs(bits, int(vectors.shape[1]))
        self._search = ExactIndex()
        signs: Any = self._signs
        self._search.build(signs, np.arange(len(vectors)))

    def _candidates(self, queries: Float32Array, count: int) -> tuple[IntArray, Float32Array]:
        return self._search.search(queries, count)


class _Signs:
    """Packed bits that are read as rows of 1 and -1, some at a time."""

    def __init__(self, bits: npt.NDArray[np.uint8], dim: int) -> None:
        self._bits = bits
        self.shape = (len(bits), dim)
        self.nbytes = bits.nbytes

    def __len__(self) -> int:
        return len(self._bits)

    def __getitem__(self, rows: slice) -> Float32Array:
        bits = np.unpackbits(self._bits[rows], axis=1, count=self.shape[1])
        return bits.astype(np.float32) * 2 - 1
