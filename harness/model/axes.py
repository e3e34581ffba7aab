"""What a sweep may vary in any model: how long its vectors are, what becomes of long chunks, its prompts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.errors import ModelError, SettingError
from harness.model.rows import unit_rows
from harness.records import Encoded

LONG_CHUNKS = ("truncate", "window", "error")
PROMPTS = ("default", "none")
# So many rows are cut at once: each needs double precision for a moment.
_ROWS = 65_536
_SHOWN_CHARS = 60


def check_axes(truncate_dim: int | None, long_chunks: str, prompts: str) -> None:
    """Raises ``SettingError`` for a value that no model allows."""
    if truncate_dim is not None and (
        isinstance(truncate_dim, bool) or not isinstance(truncate_dim, int) or truncate_dim < 1
    ):
        raise SettingError(
            f"model.truncate_dim is {truncate_dim!r}; it must be a whole number of at least 1 (how many numbers of a vector are "
            "kept), or null for all.",
            key="model.truncate_dim",
        )
    if long_chunks not in LONG_CHUNKS:
        raise SettingError(
            f"model.long_chunks is {long_chunks!r}; it must be truncate (read the beginning), window (read all, a window at a time) "
            "or error.",
            key="model.long_chunks",
        )
    if prompts not in PROMPTS:
        raise SettingError(
            f"model.prompts is {prompts!r}; it must be default (those of the model) or none.",
            key="model.prompts",
        )


def window_of(max_tokens: int | None, own: int | None, positions: int | None, model: str) -> int | None:
    """Tokens that are read at a time, special ones included; None for a model that nothing limits.

    ``own``: the model's own window. Raises ``SettingError`` for more than the model has ``positions`` for.
    """
    if max_tokens is None:
        return own
    if positions is not None and max_tokens > positions:
        raise SettingError(
            f"model.max_tokens is {max_tokens}; the model {model!r} has positions for {positions} tokens. "
            f"Give at most that, or null for its own window of {own}.",
            key="model.max_tokens",
        )
    return max_tokens


def kept_dim(truncate_dim: int | None, dim: int, model: str) -> int:
    """Numbers in a vector that is left of one of ``dim``; raises ``SettingError`` when it would have to be longer."""
    if truncate_dim is not None and truncate_dim > dim:
        raise SettingError(
            f"model.truncate_dim is {truncate_dim}; the vectors of {model!r} have {dim} numbers. Give at most that, or null "
            "for all of them.",
            key="model.truncate_dim",
        )
    return dim if truncate_dim is None else truncate_dim


def cut_rows(encoded: Encoded, dim: int, model: str) -> Encoded:
    """The first ``dim`` numbers of each vector, made unit length again; all else as it was.

    Models trained for it (Matryoshka representation learning, Kusupati et al., 2022) put what matters most first.
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
        f"The model {model!r} can't read a whole chunk (model.long_chunks=error): the one that begins with {shown!r} has "
        f"{encoded.tokens[first]} of its tokens, of which {encoded.seen_tokens[first]} fit into its window of {window}{others}. "
        "Lower chunk, raise model.max_tokens, or set model.long_chunks to window (read all of it, a window at a time) or truncate.",
        model=model,
    )
