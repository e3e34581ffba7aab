"""A loaded model that encodes texts, and what all models do with vectors: unit length, cutting, refusing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from harness.errors import ModelError
from harness.model.backends import LoadedModel
from harness.model.backends.torch import quiet
from harness.model.window import Seen, Window
from harness.records import Encoded, Float32Array, IntArray
from harness.text.encodings import encodable

# So many rows are cut at once: each needs double precision for a moment.
_ROWS = 65_536
_SHOWN_CHARS = 60


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
        return self._window.read(list(map(encodable, texts)), prompt)

    def encode(self, texts: Sequence[str], prompt: str, *, in_pieces: bool = False) -> Encoded:
        """Vectors of texts. ``in_pieces``: long texts are read to their end, in pieces that are averaged."""
        if not in_pieces:
            seen = self.read(texts, prompt)
            return Encoded(self._rows(seen.ids, prompt), seen.tokens, seen.seen_tokens, seen.seen_chars)
        pieces = self._window.read_all(list(map(encodable, texts)), prompt)
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


def unit_rows(rows: npt.NDArray[np.floating], model: str) -> Float32Array:
    """float32 (rows, dim) of unit length; zeros stay zeros. Raises ``ModelError`` for nan or infinity."""
    exact = np.asarray(rows, dtype=np.float64)
    broken = int((~np.isfinite(exact).all(axis=1)).sum())
    if broken:
        raise ModelError(
            f"The model {model!r} gave {broken} of {len(exact)} vectors that hold nan or infinity. "
            "Its weights are damaged or don't fit its configuration.",
            model=model,
        )
    norms = np.linalg.norm(exact, axis=1, keepdims=True)
    return np.asarray(exact / np.where(norms > 0, norms, 1.0), dtype=np.float32)


def cut_rows(encoded: Encoded, dim: int, model: str) -> Encoded:
    """The first ``dim`` numbers of each vector, made unit length again; all else as it was.

    Models trained for it (Matryoshka representation learning, Kusupati et al., 2022) put what matters most
    first.
    """
    count, whole = encoded.vectors.shape
    if dim == whole:
        return encoded
    vectors = np.zeros((count, dim), dtype=np.float32)
    for start in range(0, count, _ROWS):
        vectors[start : start + _ROWS] = unit_rows(encoded.vectors[start : start + _ROWS, :dim], model)
    return encoded._replace(vectors=vectors)


def refuse_long(encoded: Encoded, texts: Sequence[str], model: str, window: int) -> None:
    """Raises ``ModelError`` that names the first text of which something was not seen."""
    long = np.flatnonzero(encoded.seen_tokens < encoded.tokens)
    if not len(long):
        return
    first = int(long[0])
    text = " ".join(texts[first][: 4 * _SHOWN_CHARS].split())
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
    others = (
        f", and {len(long) - 1} more {'are' if len(long) > 2 else 'is'} too long" if len(long) > 1 else ""
    )
    raise ModelError(
        f"The model {model!r} can't read a whole text (model.long_chunks=error): the one that begins with "
        f"{shown!r} has {encoded.tokens[first]} tokens; {encoded.seen_tokens[first]} of them fit into its "
        f"window of {window}{others}. Lower chunk (or shorten the question), raise model.max_tokens, or set "
        "model.long_chunks to window (read all of it, a window at a time) or truncate.",
        model=model,
    )
