"""Backends: token ids into vectors, on torch or on an engine that a model is converted for.

Promises: backends agree with torch in float32 to cosine 0.99999 (0.9999 in half precision; 0.97 in int8,
which only one of them can); a row does not depend on its neighbours in the batch (to cosine 0.99999); which
backend ran changes no result, so it is not part of a model's identity. The precision is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from harness.records import Float32Array, IntArray

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
# A text shorter than this share of its batch's longest starts a new batch.
_FILLED = 0.75


class Backend(Protocol):
    """A model in memory."""

    @property
    def name(self) -> str:
        """``torch``, ``openvino`` or ``onnx``."""

    def encode(
        self, ids: Sequence[IntArray], most: int | None = None, prompt_tokens: int = 0
    ) -> Float32Array:
        """float32 (texts, dim), pooled, row i for ids[i]; zeros for a text without a token.

        ``ids``: int64, special tokens included, no padding, cut to the window. ``most``: texts at a time,
        None for what suits the backend. ``prompt_tokens``: for the few models whose pooling leaves the prompt
        out.
        """


class LoadedModel(NamedTuple):
    """A backend with the ``tokenizers.Tokenizer`` that makes its ids."""

    backend: Backend
    tokenizer: Any


class BackendRequest(NamedTuple):
    """All that decides what is loaded.

    ``digest`` stands for the files in ``folder``; ``longest`` is the number of tokens up to which a backend
    is tried.
    """

    name: str
    folder: str
    digest: str
    backend: str
    precision: str
    device: str
    longest: int
    cache_dir: str


class UnfitError(Exception):
    """An engine can't stand in for torch here; the message is a clause that says why.

    ``expected`` is True for what needs no warning: not installed, or slower.
    """

    def __init__(self, reason: str, *, expected: bool = False) -> None:
        super().__init__(reason)
        self.expected = expected


def first_line(error: Exception) -> str:
    """The first line of an error's message."""
    return next(iter(str(error).strip().splitlines()), "no message")


def batches(
    ids: Sequence[IntArray], tokens: int, most: int | None = None, *, padded: bool
) -> Iterator[IntArray]:
    """Rows of ``ids``, each once, those without a token never; the first of a batch is its longest.

    A batch holds at most ``tokens`` tokens with its padding (or a single longer text) and at most ``most``
    texts; no text is filled up by more than a third. Without ``padded`` all texts of a batch have the same
    length. Longest first: a batch that is too big for the memory fails at once, and the cores finish
    together.
    """
    lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    start = 0
    while start < len(order):
        longest = int(lengths[order[start]])
        size = max(tokens // longest, 1)
        rows = order[start : start + (size if most is None else min(size, most))]
        rows = rows[lengths[rows] >= (longest * _FILLED if padded else longest)]
        yield rows
        start += len(rows)


def cores() -> int:
    """Cores this process may use: the least of affinity, container quota and ``OMP_NUM_THREADS``.

    Launchers that run jobs side by side set ``OMP_NUM_THREADS`` or the affinity for each of them.
    """
    affine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [affine, _quota(), _asked()]
    return max(min(limit for limit in limits if limit is not None), 1)


def _quota() -> int | None:
    try:
        limit, period = _QUOTA.read_text(encoding="ascii").split()
        return -(-int(limit) // int(period))
    except (OSError, ValueError):
        return None  # no quota reads "max"


def _asked() -> int | None:
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return int(asked) if asked.isdigit() and int(asked) else None
