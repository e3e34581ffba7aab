"""Claims about means: limits, what to expect of a choice, effects of settings, groups of questions."""

from __future__ import annotations

import itertools

import numpy as np
from drawn import clusters_of, drawn, label
from simulated_sweeps import SIZES, recalls

from harness.verdict import Outcomes
from harness.verdict.clusters import effective_clusters
from harness.verdict.effects import effects as effects_of
from harness.verdict.interval import mean_intervals
from harness.verdict.power import cross_fitted
from harness.verdict.simultaneous import by_group

DESIGNS = [
    *SIZES.values(),
    np.ones(100, dtype=np.int64),
    np.full(32, 5, dtype=np.int64),
    np.concatenate([np.full(4, 12), np.full(60, 3), np.ones(40)]).astype(np.int64),
    np.full(12, 12, dtype=np.int64),
]


def intervals(count):
    """Coverage of the 95% limits of one cell's mean."""
    for place, sizes in enumerate(DESIGNS):
        which = clusters_of(sizes)
        method, wanted = (
            ("bootstrap-t", "93-97%") if effective_clusters(which) >= 30 else ("CR2", "about 95%")
        )
        for mean in (0.6, 0.8, 0.95):
            rng = np.random.default_rng([place, int(mean * 100)])
            covered = 0
            for first in range(0, 2 * count, 250):
                rows = recalls(rng, min(250, 2 * count - first), sizes, np.array([mean]))[:, 0]
                covered += sum(i.lo <= mean <= i.hi for i in mean_intervals(rows, which))
            yield (
                f"limits of a mean hold it ({method})",
                f"mean {mean}; {label(sizes)}",
                wanted,
                covered,
                2 * count,
            )


def optimism(count):
    """Whether the expected score is on average the true mean of what was chosen, and its error."""
    cases = {
        "12 equal": [0.75] * 12,
        "2 equal": [0.75] * 2,
        "12 spread over 10 points": np.linspace(0.65, 0.75, 12),
    }
    for (name, given), sizes in itertools.product(cases.items(), list(SIZES.values())[:2]):
        means = np.asarray(given)
        observed, expected, truth = [], [], []
        for _, sums in drawn(7, count, sizes, means):
            scores = sums.sum(axis=1) / sizes.sum()
            observed.append(scores.max())
            truth.append(means[scores.argmax()])
            expected.append(cross_fitted(sums, sizes.astype(float)).score)
        observed, expected, truth = map(np.array, (observed, expected, truth))
        line = (
            f"best observed {100 * (observed - truth).mean():+.2f} (rms "
            f"{100 * np.sqrt(((observed - truth) ** 2).mean()):.2f}), "
            f"cross-fitted {100 * (expected - truth).mean():+.2f} (rms "
            f"{100 * np.sqrt(((expected - truth) ** 2).mean()):.2f})"
        )
        yield (
            "bias in points against the truth of the chosen cell",
            f"{name}; {label(sizes)}",
            "about 0",
            line,
            None,
        )


def _grid(models, chunks):
    return [{"model": m, "chunk": c} for m in models for c in chunks]


def effects(count):
    """Effects of a grid of 3 models x 4 chunk sizes: coverage, and dependence that is not there."""
    sizes = list(SIZES.values())[1]
    settings = _grid("abc", "1234")
    names = tuple(s["model"] + s["chunk"] for s in settings)
    covered = held = depends = signs = 0
    for values, _ in drawn(11, count, sizes, [0.7] * 12):
        found = effects_of(Outcomes(names, values, clusters_of(sizes)), settings)
        covered += found[0].difference.lo <= 0 <= found[0].difference.hi
        held += all(p.difference.lo <= 0 <= p.difference.hi for p in found[0].pairs)
        depends += any(effect.depends for effect in found)
        signs += any(effect.changes_sign for effect in found)
    setting = f"3 models x 4 chunks, all equal; {label(sizes)}"
    yield "limits of a mean effect hold it", setting, "95%", covered, count
    yield "limits of the pairs of one effect hold all", setting, ">= 95%", held, count
    yield "a dependence is named that is none (anywhere)", setting, "<= 5%", depends, count
    yield "a change of sign is named that is none", setting, "<= 5%", signs, count
    settings = _grid("ab", "12")
    found_depends = found_signs = 0
    for values, _ in drawn(12, count, SIZES["300 questions, each its own cluster"], [0.78, 0.72, 0.70, 0.77]):
        outcomes = Outcomes(tuple("abcd"), values, np.arange(values.shape[1]))
        effect = next(e for e in effects_of(outcomes, settings) if e.axis == "chunk")
        found_depends += "model" in effect.depends_on
        found_signs += effect.changes_sign
    setting = "2 x 2, chunk does -6 and +7 points; 300 questions"
    yield "the dependence is named", setting, "(power)", found_depends, count
    yield "the change of sign is named", setting, "(power)", found_signs, count


def wording(count):
    """Two equal cells over three groups; and two cells that differ by as much in opposite directions."""
    groups = np.resize(["low", "middle", "high"], 300)
    wrong = named = 0
    for values, _ in drawn(13, count, np.ones(300, dtype=np.int64), [0.75, 0.75]):
        wrong += by_group(values[0] - values[1], np.arange(300), groups).changes_sign
    for values, other in zip(
        drawn(14, count, np.ones(150, dtype=np.int64), [0.8, 0.65]),
        drawn(15, count, np.ones(150, dtype=np.int64), [0.65, 0.8]),
        strict=True,
    ):
        both = np.concatenate([values[0][0] - values[0][1], other[0][0] - other[0][1]])
        named += by_group(both, np.arange(300), np.repeat(["low", "high"], 150)).changes_sign
    yield (
        "a dependence on wording is named that is none",
        "2 equal cells, thirds of 300",
        "<= 5%",
        wrong,
        count,
    )
    yield (
        "a dependence on wording is named",
        "+15 and -15 points, 150 questions each",
        "(power)",
        named,
        count,
    )
