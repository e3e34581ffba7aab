"""Vectors of one byte a number, the best of them looked at again in full."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.index.candidates import CandidateIndex, check_flag, check_whole
from harness.index.exact import ExactIndex
from harness.records import Float32Array, IntArray

_LARGEST = 127
_AT_ONCE = 65536


class Int8Index(CandidateIndex):
    """Vectors of whole numbers from -127 to 127, in steps of a dimension's largest absolute value / 127.

    Queries are not rounded.

    ``candidates``: the best vectors by these codes; no more ever come back. ``rescore``: they are put in the
    order of the full vectors, which may lie on disk. A quarter of the memory; it is the loss and the size
    that are measured, a search here is no faster than exact. Raises ``SettingError`` for a value that is not
    allowed.
    """

    def __init__(self, candidates: int = 200, *, rescore: bool = True) -> None:
        check_whole("candidates", candidates, 1, "vectors")
        check_flag("rescore", rescore)
        super().__init__(candidates, exact_scores=rescore)

    def megabytes(self) -> float:
        """Size of the codes, in MB (10^6 bytes); the vectors that rescoring reads lie outside."""
        return (self._codes.nbytes + self._step.nbytes) / 1e6

    def _prepare(self, vectors: Float32Array) -> None:
        largest = np.zeros(vectors.shape[1], np.float32)
        for first in range(0, len(vectors), _AT_ONCE):
            largest = np.maximum(largest, np.abs(vectors[first : first + _AT_ONCE]).max(axis=0))
        self._step = (np.where(largest > 0, largest, 1) / _LARGEST).astype(np.float32)
        self._codes: npt.NDArray[np.int8] = np.empty(vectors.shape, np.int8)
        for first in range(0, len(vectors), _AT_ONCE):
            some = np.asarray(vectors[first : first + _AT_ONCE], np.float32)
            self._codes[first : first + len(some)] = np.rint(some / self._step)
        self._search = ExactIndex()
        # Codes are made float32 a block at a time.
        self._search.build(self._codes, np.arange(len(vectors)))  # type: ignore[arg-type]

    def _candidates(self, queries: Float32Array, count: int) -> tuple[IntArray, Float32Array]:
        return self._search.search(queries * self._step, count)
