"""A loaded model that encodes texts: tokens, the backend, vectors of unit length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.errors import ModelError
from harness.model.backends import LoadedModel
from harness.model.backends.torch import quiet
from harness.model.rows import encodable, unit_rows
from harness.model.window import Seen, Window
from harness.records import Encoded, Float32Array, IntArray


class Embedder:
    """A backend with its tokenizer.

    ``window``: maximum sequence length in tokens, None without a limit. ``dim``: numbers in a vector.
    ``batch_size``: texts at most in a batch, None for what suits the backend. ``name`` is for messages.
    """

    def __init__(
        self, loaded: LoadedModel, window: int | None, dim: int, batch_size: int | None, name: str
    ) -> None:
        self.backend = loaded.backend
        self._window = Window(loaded.tokenizer, window)
        self._dim = dim
        self._batch_size = batch_size
        self._name = name

    def read(self, texts: Sequence[str], prompt: str) -> Seen:
        """The tokens that are read of each text after the prompt."""
        return self._window.read(encodable(texts), prompt)

    def encode(self, texts: Sequence[str], prompt: str, *, in_pieces: bool = False) -> Encoded:
        """Vectors of texts. ``in_pieces``: long texts are read to their end, in pieces that are averaged."""
        if not in_pieces:
            seen = self.read(texts, prompt)
            return Encoded(self._rows(seen.ids, prompt), seen.tokens, seen.seen_tokens, seen.seen_chars)
        pieces = self._window.read_all(encodable(texts), prompt)
        rows = unit_rows(pieces.sums(self._rows(pieces.ids, prompt)), self._name)
        chars = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return Encoded(rows, pieces.tokens, pieces.tokens.copy(), chars)

    def _rows(self, ids: Sequence[IntArray], prompt: str) -> Float32Array:
        rows = unit_rows(self._vectors(ids, self._window.prompt_tokens(prompt)), self._name)
        if rows.shape[1] != self._dim:
            raise ModelError(
                f"The model {self._name!r} gave vectors of {rows.shape[1]} numbers; its configuration says "
                f"{self._dim}.",
                model=self._name,
            )
        return rows

    def _vectors(self, ids: Sequence[IntArray], prompt_tokens: int) -> Float32Array:
        try:
            with quiet():
                return self.backend.encode(ids, self._batch_size, prompt_tokens)
        except RuntimeError as error:
            if "out of memory" not in str(error):
                raise
            raise ModelError(
                f"The model {self._name!r} ran out of memory. Lower model.batch_size (texts at a time, now "
                f"{self._batch_size or 'as many as suit a GPU'}), model.max_tokens or choose "
                "model.device=cpu.",
                model=self._name,
            ) from error
