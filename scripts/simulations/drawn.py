"""Sweeps one after the other, and how settings are named in the tables."""

from __future__ import annotations

import numpy as np
from simulated_sweeps import recalls, summed

from harness.verdict.clusters import effective_clusters

BATCH = 50
# One look with 2,000 resamples instead of up to 160,000: what Monte Carlo errs is part of what is measured.
QUICK = {"looks": 1, "first": 2000}


def drawn(seed, count, sizes, means, **settings):
    """Per-question results and cluster sums of one sweep after the other."""
    rng = np.random.default_rng(seed)
    for first in range(0, count, BATCH):
        values = recalls(rng, min(BATCH, count - first), sizes, np.asarray(means), **settings)
        yield from zip(values, summed(values, sizes), strict=True)


def clusters_of(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def label(sizes):
    return f"{sizes.sum()} questions, {len(sizes)} clusters, G* {effective_clusters(clusters_of(sizes)):.0f}"
