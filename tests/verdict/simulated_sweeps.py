"""Made-up sweeps whose true means are known exactly, shaped like real recalls: clustered, mostly 1, sometimes in part."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy import stats

# Standard deviations of what a question's chance depends on.
CLUSTER, QUESTION, NOISE = 0.5, 1.0, 0.5
PARTIAL = 0.1
PIECES = np.array([0.6, 0.25, 0.15])  # shares of questions with one, two and three pieces of evidence

SIZES = {
    "300 questions, each its own cluster": np.ones(300, dtype=np.int64),
    "300 questions in 60 unequal clusters": np.maximum(np.round(10 * 0.97 ** np.arange(60)), 1).astype(
        np.int64
    ),
    "150 questions in 18 unequal clusters": np.maximum(np.round(17 * 0.9 ** np.arange(18)), 1).astype(
        np.int64
    ),
}


def true_mean(strength, interaction=0.2):
    """The mean recall of a cell of that strength: P(covered) + what is covered in part."""
    spread = sqrt(CLUSTER**2 + QUESTION**2 + NOISE**2 + interaction**2)
    return PARTIAL / 2 + (1 - PARTIAL / 2) * stats.norm.cdf(np.asarray(strength) / spread)


def strength_of(mean, interaction=0.2):
    """The strength of a cell with that true mean."""
    spread = sqrt(CLUSTER**2 + QUESTION**2 + NOISE**2 + interaction**2)
    return spread * stats.norm.ppf((np.asarray(mean) - PARTIAL / 2) / (1 - PARTIAL / 2))


def recalls(rng, sweeps, sizes, means, interaction=0.2):
    """float64 (sweeps, cells, questions): recalls of cells with these true means; ``sizes`` of the clusters.

    Cells answer much the same questions: they share difficulty, and differ by noise of their own and by cluster.
    """
    which = np.repeat(np.arange(len(sizes)), sizes)
    cells, questions = len(means), len(which)
    shared = CLUSTER * rng.standard_normal((sweeps, 1, len(sizes)))[..., which]
    shared = shared + QUESTION * rng.standard_normal((sweeps, 1, questions))
    own = interaction * rng.standard_normal((sweeps, cells, len(sizes)))[..., which]
    strength = strength_of(means, interaction)[:, None]
    latent = (shared + own + strength)[..., None] + NOISE * rng.standard_normal((sweeps, cells, questions, 3))
    luck = rng.random((sweeps, 1, questions, 3))
    piece = np.where(latent > 0, 1.0, np.where(luck < PARTIAL, luck / PARTIAL, 0.0))
    pieces = 1 + np.searchsorted(np.cumsum(PIECES)[:2], rng.random((sweeps, 1, questions)), side="right")
    inside = np.arange(3) < pieces[..., None]
    return (piece * inside).sum(axis=-1) / pieces


def paired(rng, sweeps, questions, discordance, difference):
    """float64 (sweeps, 2, questions): two cells of hits and misses that differ on a share of questions, by a mean difference."""
    draws = rng.random((sweeps, questions))
    won = (discordance + difference) / 2
    both = rng.random((sweeps, questions)) < 0.75
    first = np.where(draws < won, 1.0, np.where(draws < discordance, 0.0, both))
    second = np.where(draws < won, 0.0, np.where(draws < discordance, 1.0, both))
    return np.stack([first, second], axis=1)


def summed(values, sizes):
    """float64 (..., clusters): sums over clusters of these sizes, questions in the order of the clusters."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(values, starts, axis=-1)
