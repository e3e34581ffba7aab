"""Cached scores of a reranker: another k, retriever or sweep with the same pairs needs no model.

Scores are cached by the reranker's identity, the questions and the texts, a few questions at a time, so that
a stopped sweep continues where it was.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ModelError
from harness.progress import bar
from harness.records import Float32Array
from harness.reranker import Reranker
from harness.store.arrays import CachedArrays, digest

_SCHEME = 1
_AT_ONCE = 16


class CachedReranker:
    """A reranker with its scores cached in ``folder``; None caches nothing.

    ``seconds``: time spent scoring and loading the model.
    """

    def __init__(self, reranker: Reranker, folder: Path | None) -> None:
        self._reranker = reranker
        self._folder = folder
        self._is_warm = False
        self._ms: dict[str, float] = {}
        self._truncated: dict[str, tuple[int, int]] = {}
        self.depth = reranker.depth
        self.seconds = 0.0

    def identity(self) -> Mapping[str, Any]:
        """The reranker's identity; empty without a reranker."""
        return self._reranker.identity()

    def scores(self, questions: Sequence[str], texts: Sequence[Sequence[str]]) -> list[Float32Array]:
        """For each question the scores of its texts, cached or new; equal texts score equally."""
        found: list[Float32Array] = []
        with bar("Reranking", len(questions), "questions") as progress:
            for first in range(0, len(questions), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                found += self._some(questions[some], texts[some])
                progress.update(len(questions[some]))
        return found

    def live(self, question: str, texts: Sequence[str]) -> Float32Array:
        """The scores of one question's texts as in production: nothing is read from or added to the cache.

        Raises ``ModelError`` for scores that are not finite or too few.
        """
        places: dict[str, int] = {}
        place = [places.setdefault(text, len(places)) for text in texts]
        given = np.asarray(self._reranker.scores(question, list(places)), np.float32)
        if given.shape != (len(places),) or not np.isfinite(given).all():
            raise ModelError(
                f"The reranker gave unusable scores for {question!r}: {len(places)} texts need as "
                f"many finite numbers. It gave {given.size}; {int((~np.isfinite(given)).sum())} of them are "
                "not finite."
            )
        return given[np.array(place, np.int64)]

    def milliseconds(self, question: str) -> float:
        """How long this question's texts took when they were scored; nan if they were not."""
        return self._ms.get(question, float("nan"))

    def truncated(self, questions: Sequence[str]) -> tuple[int, int]:
        """How many pairs of these questions and their texts were truncated, and how many there are."""
        counts = [self._truncated.get(question, (0, 0)) for question in questions]
        return sum(cut for cut, _ in counts), sum(pairs for _, pairs in counts)

    def _some(self, questions: Sequence[str], texts: Sequence[Sequence[str]]) -> list[Float32Array]:
        name = f"scores-{digest(json.dumps([list(questions), [list(map(_short, some)) for some in texts]]))}"
        cached = self._cache.read(name)
        if cached is None:
            started = time.perf_counter()
            self._warm_up(questions, texts)
            scores, taken = [], []
            for question, some in zip(questions, texts, strict=True):
                begun = time.perf_counter()
                scores.append(self.live(question, some))
                taken.append(1000 * (time.perf_counter() - begun))
            count = getattr(self._reranker, "truncated", lambda *_: 0)
            cut = [count(question, some) for question, some in zip(questions, texts, strict=True)]
            self.seconds += time.perf_counter() - started
            cached = {"scores": np.concatenate(scores), "ms": np.array(taken, np.float64)}
            cached["truncated"] = np.array(cut, np.int64)
            self._cache.write(name, **cached)
        self._ms |= dict(zip(questions, cached["ms"].tolist(), strict=True))
        # Scores that were cached by an earlier version lack it.
        truncated = cached.get("truncated", np.zeros(len(questions), np.int64)).tolist()
        pairs = zip(truncated, map(len, texts), strict=True)
        self._truncated |= dict(zip(questions, pairs, strict=True))
        return np.split(cached["scores"], np.cumsum([len(some) for some in texts])[:-1])

    def _warm_up(self, questions: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
        """Loads the model and runs it once, which latency does not include."""
        if not self._is_warm and texts[0]:
            self._reranker.scores(questions[0], texts[0][:1])
            self._is_warm = True

    @cached_property
    def _cache(self) -> CachedArrays:
        key = {"scheme": _SCHEME, "model": dict(self.identity()), "role": "reranker"}
        return CachedArrays(self._folder, key)


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
