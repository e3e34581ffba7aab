"""Runs the simulations and prints one Markdown table row a claim."""

from __future__ import annotations

import argparse
import time

import changes
import comparisons
import looks
import means
from scipy import stats

PARTS = {
    "intervals": means.intervals,
    "best_set": comparisons.best_set,
    "non_inferior": comparisons.non_inferior,
    "power": comparisons.power,
    "optimism": means.optimism,
    "effects": means.effects,
    "wording": means.wording,
    "monte_carlo": comparisons.monte_carlo,
    "changes": changes.changes,
    "looks": looks.looks,
    "margins": looks.margins,
}


def short(count):
    """The promises at the smallest designs, for a test."""
    yield from comparisons.smallest(count)
    yield from changes.changes(count, most=50)


def limits(hits, trials):
    """Two-sided 99% limits of a share (Clopper & Pearson), so that the upper one alone has a risk of 0.5%."""
    lo = stats.beta.ppf(0.005, hits, trials - hits + 1) if hits else 0.0
    hi = stats.beta.isf(0.005, hits + 1, trials - hits) if hits < trials else 1.0
    return lo, hi


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sweeps", type=int, default=2000)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    print("| claim | setting | wanted | measured | 99% limits | sweeps |")
    print("|---|---|---|---|---|---|")
    for part in options.only.split(","):
        started = time.perf_counter()
        for claim, setting, wanted, hits, trials in (PARTS | {"short": short})[part](options.sweeps):
            if trials is None:
                print(f"| {claim} | {setting} | {wanted} | {hits} | | {options.sweeps} |", flush=True)
                continue
            lo, hi = limits(hits, trials)
            print(
                f"| {claim} | {setting} | {wanted} | {hits / trials:.1%} | {lo:.1%} .. {hi:.1%} | {trials} |",
                flush=True,
            )
        print(f"<!-- {part}: {time.perf_counter() - started:.0f} s -->", flush=True)


if __name__ == "__main__":
    main()
