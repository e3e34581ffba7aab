"""No second look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.records import Float32Array


class NoReranker:
    """Leaves the ranking as it is."""

    depth = 0

    def identity(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def scores(self, question: str, texts: Sequence[str]) -> Float32Array:  # noqa: ARG002 - the stage's signature
        """Zeros: nothing is told apart."""
        return np.zeros(len(texts), np.float32)
