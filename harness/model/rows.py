"""What every model does with texts and rows: make texts encodable, portion them, give rows unit length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from harness.errors import ModelError
from harness.records import Float32Array

# Texts are tokenised in portions of so many characters: a token's record takes about a hundred bytes.
_PORTION = 1_000_000
_SURROGATES = re.compile("[\ud800-\udfff]")


def encodable(texts: Sequence[str]) -> list[str]:
    """The texts with lone surrogates (they are no characters, and no tokenizer takes them) as U+FFFD; same lengths."""
    return [text if text.isascii() else _SURROGATES.sub("\ufffd", text) for text in texts]


def portions(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Runs of texts of at most a million characters (or a single longer text), each with the place of its first."""
    start = size = 0
    for i, text in enumerate(texts):
        if size and size + len(text) > _PORTION:
            yield start, texts[start:i]
            start, size = i, 0
        size += len(text)
    if start < len(texts):
        yield start, texts[start:]


def unit_rows(rows: npt.NDArray[np.floating], model: str) -> Float32Array:
    """float32 (rows, dim), each row of unit length; a row of zeros stays zeros. Raises ``ModelError`` for nan or inf."""
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
