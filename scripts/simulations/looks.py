"""Claims about golden sets that grow until a winner is named, and about margins made for their size."""

from __future__ import annotations

import numpy as np
from drawn import QUICK
from simulated_sweeps import paired

from harness.verdict import best_set as testing
from harness.verdict.power import LEVEL, demonstrable_margin, level_after_growth, readable_margin

SERIES = (
    # questions at each look, discordance, difference
    (range(50, 401, 50), 0.15, 0.0),
    (range(50, 401, 50), 0.34, 0.0),
    ((150, 300, 450, 600), 0.15, 0.0),
    ((300, 600), 0.34, 0.0),
    (range(50, 401, 50), 0.15, 0.08),
)


def looks(count):
    """How often a winner is named at any look, of two equal cells and of a better one."""
    few = max(count // 4, 1)
    for place, (sizes, discordance, difference) in enumerate(SERIES):
        claim = f"a winner is {'named' if difference else 'declared wrongly'} at some look"
        setting = f"looks at {', '.join(map(str, sizes))}; discordance {discordance}, {100 * difference:+.0f}"
        wanted = "(power)" if difference else "<= 5%"
        for title, level_of in (("later ones stricter", level_after_growth), ("all at 95%", lambda _: LEVEL)):
            series = paired(np.random.default_rng([20, place]), few, sizes[-1], discordance, difference)
            named = sum(any(_wins(values[:, :n], level_of(n / sizes[0])) for n in sizes) for values in series)
            yield f"{claim}, {title}", f"{setting} points", wanted, named, few


def _wins(values, level):
    return testing.best_set(values, np.ones(values.shape[1]), **QUICK, level=level).winner is not None


def margins(count):
    """Non-inferior by the default margin: of an equal cell, and of one that loses as much as the margin."""
    few = max(count // 4, 1)
    for questions in (150, 400):
        margin = readable_margin(demonstrable_margin(questions, questions))
        for discordance in (0.15, 0.34):
            for difference, claim, wanted in (
                (0.0, "an equal cell is non-inferior", "(power)"),
                (margin, "a cell that loses the margin is non-inferior", "<= 2.5%"),
            ):
                rng = np.random.default_rng([30, questions, int(100 * discordance), int(100 * difference)])
                shown = sum(
                    testing.best_set(values, np.ones(questions), **QUICK).lo[1] > -margin
                    for values in paired(rng, few, questions, discordance, difference)
                )
                setting = f"{questions} questions, margin {margin:.0%}, discordance {discordance}"
                yield claim, setting, wanted, int(shown), few
