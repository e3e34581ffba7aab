"""How much better the best observed looks than it is, and questions that are kept back to find out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.errors import SettingError
from harness.records import FloatArray
from harness.verdict import BoolArray
from harness.verdict.resampling import bootstrap_weights, seed_of

FOLDS, REPEATS = 10, 50
LEAST_HELD_OUT = 200
"""Questions that a hold-out has at least: with fewer, its interval is wider than what it is to confirm."""


class Expected(NamedTuple):
    """What choosing the best observed is worth.

    ``score``: the mean to expect on new questions of what the choice picks. ``optimism``: the best observed mean minus that; near
    or below 0 where the choice is clear.
    """

    score: float
    optimism: float


def cross_fitted(sums: FloatArray, sizes: FloatArray, folds: int = FOLDS, repeats: int = REPEATS) -> Expected:
    """Chooses on nine tenths of the clusters, scores the chosen cell on the rest, for every tenth and 50 partitions.

    ``sums``: float64 (cells, clusters). Needs as many clusters as folds. The choice is made on a tenth less than there is, which
    errs on the low side.
    """
    rng = np.random.default_rng(seed_of(sums, sizes))
    clusters = len(sizes)
    order = np.argsort(rng.random((repeats, clusters)), axis=1)
    fold = np.empty((repeats, clusters), dtype=np.int64)
    np.put_along_axis(fold, order, np.arange(clusters)[None, :] * folds // clusters, axis=1)
    fold += np.arange(repeats)[:, None] * folds
    member = np.zeros((clusters, repeats * folds))
    member[np.tile(np.arange(clusters), repeats), fold.reshape(-1)] = 1.0
    held, held_sizes = sums @ member, sizes @ member
    kept = (sums.sum(axis=1)[:, None] - held) / np.maximum(sizes.sum() - held_sizes, 1e-300)
    leading = np.isclose(kept, kept.max(axis=0), rtol=0, atol=1e-12)
    scored = (held * leading).sum(axis=0) / leading.sum(axis=0)
    score = float(scored.sum() / held_sizes.sum())
    best = float((sums.sum(axis=1) / sizes.sum()).max())
    # Sums of folds differ from whole sums in the last digits.
    score = best if abs(best - score) < 1e-12 else score
    return Expected(score, best - score)


def lead_shares(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    """float64 (cells,): the share of 10,000 resamples of clusters in which each cell leads; cells that lead together share it.

    No probability of being best: with twelve equal cells the leader passes one half in a quarter of all sweeps.
    """
    rng = np.random.default_rng(seed_of(sums, sizes))
    led, resamples = np.zeros(len(sums)), 0
    for weights in bootstrap_weights(rng, len(sizes)):
        total = sums @ weights.T
        leading = total >= total.max(axis=0) - 1e-9
        led += (leading / leading.sum(axis=0)).sum(axis=1)
        resamples += len(weights)
    return led / resamples


def held_out(labels: Sequence[str], fraction: float) -> BoolArray:
    """Bool (questions,): the questions to keep back, whole clusters at a time, from each question's cluster label.

    Clusters are taken in the order of their labels' digests until ``fraction`` of the questions is reached, so that further
    questions hardly move those that are there. Raises ``SettingError`` for a fraction outside 0..1, for fewer than 200 questions
    kept back, and when nothing would be left.
    """
    if not 0 < fraction < 1:
        raise SettingError(
            f"confirm.fraction is {fraction}; it must lie between 0 and 1.", key="confirm.fraction"
        )
    names, which, counts = np.unique(np.asarray(labels, dtype=str), return_inverse=True, return_counts=True)
    digests = [hashlib.blake2b(str(name).encode(), digest_size=8).digest() for name in names]
    order = np.array(sorted(range(len(names)), key=digests.__getitem__), dtype=np.int64)
    before = np.cumsum(counts[order]) - counts[order]
    taken = np.zeros(len(names), dtype=np.bool_)
    taken[order[before < fraction * len(labels)]] = True
    mask: BoolArray = taken[which.reshape(-1)]
    if mask.sum() < LEAST_HELD_OUT or mask.all():
        raise SettingError(
            f"confirm.fraction={fraction} would keep back {int(mask.sum())} of {len(labels)} questions; at least {LEAST_HELD_OUT} must be"
            " kept back and others left. Raise the fraction, or leave it out: the verdict is cross-fitted without it.",
            key="confirm.fraction",
        )
    return mask
