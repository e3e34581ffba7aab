"""Scores of a reranker that are computed once: another k, retriever or sweep with the same pairs needs no model.

What is kept depends on the reranker's identity, the questions and the texts. Questions are kept some at a time, so a
sweep that is stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import ModelError
from harness.progress import bar
from harness.records import Float32Array
from harness.reranker import Reranker
from harness.store.arrays import CachedArrays, digest
from harness.store.rankings import NOTE

_SCHEME = 1
_AT_ONCE = 16


class CachedReranker:
    """A reranker behind the store of its scores in ``folder``; without one, nothing is kept.

    ``seconds`` were spent scoring, loading the model included.
    """

    def __init__(self, reranker: Reranker, folder: Path | None) -> None:
        self._reranker = reranker
        self._folder = folder
        self._arrays: CachedArrays | None = None
        self._is_warm = False
        self._ms: dict[str, float] = {}
        self.depth = reranker.depth
        self.seconds = 0.0

    def identity(self) -> Mapping[str, Any]:
        """That of the reranker; empty where none is."""
        return self._reranker.identity()

    def scores(self, questions: Sequence[str], texts: Sequence[Sequence[str]]) -> list[Float32Array]:
        """For each question the scores of its texts, kept ones or new ones; equal texts score equally."""
        found: list[Float32Array] = []
        with bar("Reranking", len(questions), "questions") as progress:
            for first in range(0, len(questions), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                found += self._some(questions[some], texts[some])
                progress.update(len(questions[some]))
        return found

    def live(self, question: str, texts: Sequence[str]) -> Float32Array:
        """The scores of one question's texts as in production: nothing read or kept. Raises ``ModelError`` for scores that are no numbers."""
        places: dict[str, int] = {}
        place = [places.setdefault(text, len(places)) for text in texts]
        given = np.asarray(self._reranker.scores(question, list(places)), np.float32)
        if given.shape != (len(places),) or not np.isfinite(given).all():
            raise ModelError(
                f"The reranker gave no usable scores for {question!r}: {len(places)} texts need as many finite numbers, and it gave "
                f"{given.size}, {int((~np.isfinite(given)).sum())} of them not finite."
            )
        return given[np.array(place, np.int64)]

    def milliseconds(self, question: str) -> float:
        """How long reading the first rows for this question took when it was scored; nan where it was not."""
        return self._ms.get(question, float("nan"))

    def _some(self, questions: Sequence[str], texts: Sequence[Sequence[str]]) -> list[Float32Array]:
        name = f"scores-{digest(json.dumps([list(questions), [list(map(_short, some)) for some in texts]]))}"
        kept = self._read(name)
        if kept is None:
            started = time.perf_counter()
            self._warm_up(questions, texts)
            scores, taken = [], []
            for question, some in zip(questions, texts, strict=True):
                begun = time.perf_counter()
                scores.append(self.live(question, some))
                taken.append(1000 * (time.perf_counter() - begun))
            self.seconds += time.perf_counter() - started
            kept = {"scores": np.concatenate(scores), "ms": np.array(taken, np.float64)}
            if self._arrays is not None:
                self._arrays.write(name, **kept)
        self._ms |= dict(zip(questions, kept["ms"].tolist(), strict=True))
        return np.split(kept["scores"], np.cumsum([len(some) for some in texts])[:-1])

    def _warm_up(self, questions: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
        """Loading and a first pass are no latency."""
        if not self._is_warm and texts[0]:
            self._reranker.scores(questions[0], texts[0][:1])
            self._is_warm = True

    def _read(self, name: str) -> dict[str, Any] | None:
        if self._folder is None:
            return None
        if self._arrays is None:
            key = {"scheme": _SCHEME, "model": dict(self.identity()), "role": "reranker"}
            self._arrays = CachedArrays(self._folder, key, NOTE)
        return self._arrays.read(name)


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
