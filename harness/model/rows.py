"""What all models do with texts and vectors: clean and portion texts, normalise and cut vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from harness.errors import ModelError
from harness.records import Encoded, Float32Array

# Texts are tokenised in portions of so many characters: a token's record takes about a hundred bytes.
_PORTION = 1_000_000
# So many rows are cut at once: each needs double precision for a moment.
_ROWS = 65_536
_SHOWN_CHARS = 60
_SURROGATES = re.compile("[\ud800-\udfff]")


def encodable(texts: Sequence[str]) -> list[str]:
    """The texts with U+FFFD for lone surrogates, which no tokenizer takes; same lengths."""
    return [text if text.isascii() else _SURROGATES.sub("\ufffd", text) for text in texts]


def portions(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Runs of texts of at most a million characters (or one longer text), each with its first position."""
    start = size = 0
    for i, text in enumerate(texts):
        if size and size + len(text) > _PORTION:
            yield start, texts[start:i]
            start, size = i, 0
        size += len(text)
    if start < len(texts):
        yield start, texts[start:]


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
        f"The model {model!r} can't read a whole chunk (model.long_chunks=error): the one that begins with "
        f"{shown!r} has {encoded.tokens[first]} tokens; {encoded.seen_tokens[first]} of them fit into its "
        f"window of {window}{others}. Lower chunk, raise model.max_tokens, or set model.long_chunks to "
        "window (read all of it, a window at a time) or truncate.",
        model=model,
    )
