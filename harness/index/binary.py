"""Vectors of one bit a number, the best of them looked at again in full."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.index.candidates import AT_ONCE, CodedIndex
from harness.records import Float32Array


class BinaryIndex(CodedIndex):
    """Of each number of a vector only whether it is above 0, as 1 or -1; queries stay as they are.

    A thirty-second of the memory of ``float32``; parameters as in ``CodedIndex``.
    """

    def megabytes(self) -> float:
        """Size of the bits, in MB (10^6 bytes); the vectors that rescoring reads lie outside."""
        return self._signs.nbytes / 1e6

    def _coded(self, vectors: Float32Array) -> SignRows:
        bits = np.empty((len(vectors), -(-vectors.shape[1] // 8)), np.uint8)
        for first in range(0, len(vectors), AT_ONCE):
            some = vectors[first : first + AT_ONCE]
            bits[first : first + len(some)] = np.packbits(some > 0, axis=1)
        self._signs = SignRows(bits, int(vectors.shape[1]))
        return self._signs


class SignRows:
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
