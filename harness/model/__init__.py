"""Texts into vectors.

Promises: rows have unit length (zeros where a static model finds no token in a text); the same text gives the
same vector whatever stands beside it in the batch (to cosine 0.99999); what a vector is cut to is done by
``cut``, so that one that is kept whole serves every length; making a model touches neither disk nor network,
``identity`` finds its files (and downloads them where only the hub has them), and no weights are loaded
before the first text is encoded; what lies beyond the model's window is counted, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from harness.records import Encoded


class Model(Protocol):
    """An embedding model with its own prompts for documents and for questions."""

    @property
    def name(self) -> str:
        """What was asked for: a name on the hub, a folder, or a name of its own."""

    def identity(self) -> Mapping[str, Any]:
        """All that changes a vector: name, revision, sha256 of the weights, prompts, window, precision, dim.

        JSON values only. Finding it loads no weights into memory and imports no torch. Raises ``ModelError``
        when the model can't be found.
        """

    def place(self) -> str | None:
        """Where its files are (``folder``, ``package``, ``hub``), or None; asks no network."""

    def agreement(self) -> float | None:
        """Least cosine to exact vectors on a sample, in a precision that changes rankings; else None."""

    def whole(self) -> Model:
        """The model from whose vectors ``cut`` makes this one's, and which refuses nothing; maybe itself."""

    def cut(self, encoded: Encoded) -> Encoded:
        """Its own vectors from those of ``whole``."""

    def check(self, encoded: Encoded, texts: Sequence[str]) -> None:
        """Raises ``ModelError`` for truncated texts when ``long_chunks`` is error."""

    def encode_documents(self, texts: Sequence[str]) -> Encoded:
        """Vectors of passages, with what the model saw of each."""

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        """Vectors of questions, with what the model saw of each."""
