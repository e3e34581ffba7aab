"""Vectors of one byte a number, the best of them looked at again in full."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.index.candidates import AT_ONCE, CodedIndex
from harness.records import Float32Array, IntArray

_LARGEST = 127


class Int8Index(CodedIndex):
    """Vectors of whole numbers from -127 to 127, in steps of a dimension's largest absolute value / 127.

    Queries are not rounded. A quarter of the memory of ``float32``; parameters as in ``CodedIndex``.
    """

    def megabytes(self) -> float:
        """Size of the codes, in MB (10^6 bytes); the vectors that rescoring reads lie outside."""
        return (self._codes.nbytes + self._step.nbytes) / 1e6

    def _coded(self, vectors: Float32Array) -> npt.NDArray[np.int8]:
        largest = np.zeros(vectors.shape[1], np.float32)
        for first in range(0, len(vectors), AT_ONCE):
            largest = np.maximum(largest, np.abs(vectors[first : first + AT_ONCE]).max(axis=0))
        self._step = (np.where(largest > 0, largest, 1) / _LARGEST).astype(np.float32)
        # Codes are made float32 a block at a time.
        self._codes: npt.NDArray[np.int8] = np.empty(vectors.shape, np.int8)
        for first in range(0, len(vectors), AT_ONCE):
            some = np.asarray(vectors[first : first + AT_ONCE], np.float32)
            self._codes[first : first + len(some)] = np.rint(some / self._step)
        return self._codes

    def _candidates(self, queries: Float32Array, count: int) -> tuple[IntArray, Float32Array]:
        return super()._candidates(queries * self._step, count)
