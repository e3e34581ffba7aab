"""Claims that compare cells: ruled out, winner, non-inferior, power, and decisions that don't flip."""

from __future__ import annotations

import numpy as np
from drawn import QUICK, drawn, label
from scipy import stats
from simulated_sweeps import SIZES, paired

from harness.verdict import best_set as testing
from harness.verdict.power import minimum_detectable_effect

NEAR = np.array([0.75, *np.linspace(0.748, 0.70, 11)])
TIED = np.array([0.75, 0.75, *np.linspace(0.72, 0.60, 10)])
SINGLE, UNEQUAL, FEW = SIZES.values()
SMALL, LARGE = (
    np.maximum(np.round(first * 0.97 ** np.arange(60)), 1).astype(np.int64) for first in (5.4, 14.2)
)


def _judged(seed, count, sizes, means, **settings):
    for _, sums in drawn(seed, count, sizes, means, **settings):
        yield testing.best_set(sums, sizes.astype(float), **QUICK)


def _errors(found, means):
    """The first best is ruled out; any is; a sole wrong winner; all lower, all upper limits hold."""
    best = np.flatnonzero(means == means.max())
    truth = np.array([m - np.delete(means, i).max() for i, m in enumerate(means)])
    sole = found.lo.max() > 0
    wrong = sole and (len(best) > 1 or int(np.argmax(found.lo)) != best[0])
    lower, upper = (found.lo <= truth + 1e-9).all(), (truth <= found.hi + 1e-9).all()
    out = found.ruled_out | (sole & (np.arange(len(means)) != np.argmax(found.lo)))
    return out[best[0]], out[best].any(), wrong, lower, upper


def _cases():
    for sizes in SIZES.values():
        yield "2 equal cells", sizes, [0.75] * 2
        yield "12 equal cells", sizes, [0.75] * 12
        yield "best of 12 by 0.2 points", sizes, NEAR
        yield "2 equal best of 12", sizes, TIED
    for sizes in (SMALL, LARGE):
        yield "3 equal cells", sizes, [0.75] * 3
        yield "best of 6 by 0.2 points", sizes, NEAR[:6]
        yield "2 equal best of 6", sizes, TIED[:6]
    yield "12 equal cells at 0.95", SINGLE, [0.95] * 12
    yield "40 equal cells", UNEQUAL, [0.75] * 40
    for sizes in (SMALL, LARGE):
        yield "2 equal cells", sizes, [0.75] * 2
        yield "6 equal cells", sizes, [0.75] * 6


def best_set(count):
    """The two error rates of the best set, over 2 to 40 cells, with and without ties, at three designs."""
    for place, case in enumerate(_cases()):
        yield from _one_case(count, place, *case)
    yield from _skewed(count)


def smallest(count):
    """The same for the designs that take least time."""
    for place, case in enumerate(_cases()):
        if case[1] is FEW or (case[1] is SMALL and "best" not in case[0]):
            yield from _one_case(count, place, *case)


def _one_case(count, place, name, sizes, given):
    means = np.asarray(given)
    judged = _judged([1, place], count, sizes, means)
    rates = np.array([_errors(found, means) for found in judged]).sum(axis=0)
    setting = f"{name}; {label(sizes)}"
    yield "the true best is ruled out", setting, "<= 5%", int(rates[0]), count
    if (means == means.max()).sum() > 1:
        yield "any of the equal best is ruled out", setting, "<= 5%", int(rates[1]), count
    yield "a sole winner is declared wrongly", setting, "<= 5%", int(rates[2]), count
    yield "all lower limits of distances to the best hold", setting, ">= 95%", int(rates[3]), count
    yield "all upper limits of distances to the best hold", setting, ">= 95%", int(rates[4]), count


def _skewed(count):
    """Many small wins against few total losses, equal on average: the sign flips know no skewness."""
    for questions, losses in ((300, 0.05), (300, 0.1), (100, 0.1)):
        rng = np.random.default_rng([2, questions, int(100 * losses)])
        out = np.zeros(2, dtype=np.int64)
        for _ in range(count):
            draws = rng.random(questions)
            wins = np.where((draws >= losses) & (draws < losses + 5 * losses), 0.2, 0.0)
            values = np.stack([np.where(draws < losses, 0.0, 0.8 + wins), np.where(draws < losses, 1.0, 0.8)])
            out += testing.best_set(values, np.ones(questions), **QUICK).ruled_out
        setting = f"{questions} questions, +0.2 on {5 * losses:.0%}, -1 on {losses:.0%}"
        yield "skewed: the cell with rare losses is ruled out", setting, "<= 5%", int(out[0]), count
        yield "skewed: its rival is ruled out", setting, "<= 5%", int(out[1]), count


def non_inferior(count):
    """Claims of non-inferiority by 3 points, where the truth is exactly 3 points (or right)."""
    for place, sizes in enumerate(SIZES.values()):
        cases = {
            "1 rival, 3 points better": [0.78, 0.75],
            "1 best, 11 others 3 points below": [0.78] + [0.75] * 11,
            "6 equal best, 6 others 3 points below": [0.78] * 6 + [0.75] * 6,
        }
        for name, given in cases.items():
            means = np.asarray(given)
            below = means < means.max()
            wrong = sum(
                bool(found.non_inferior(0.03)[below].any())
                for found in _judged([3, place], count, sizes, means)
            )
            yield (
                "non-inferior is claimed wrongly (anywhere)",
                f"{name}; {label(sizes)}",
                "<= 5%",
                wrong,
                count,
            )
    for questions in (300, 1000, 3000):
        sizes = np.ones(questions, dtype=np.int64)
        few = max(count // 10, 1)
        right = sum(bool(f.non_inferior(0.03).all()) for f in _judged([4], few, sizes, [0.75, 0.75]))
        yield (
            "non-inferior is shown of both of two equal cells",
            f"{questions} questions",
            "(power)",
            right,
            few,
        )


def power(count):
    """How often a difference is named; the two cells differ on 15% of the questions."""
    for questions, difference in (
        (300, 0.08),
        (300, minimum_detectable_effect(300, 300)),
        (150, minimum_detectable_effect(150, 150)),
        (150, 0.05),
    ):
        rng = np.random.default_rng([5, questions, int(1000 * difference)])
        named = kept = by_t = 0
        for values in paired(rng, count, questions, 0.15, difference):
            found = testing.best_set(values, np.ones(questions), **QUICK)
            named += found.lo[0] > 0
            by_t += _first_is_ahead(values, np.ones(questions))
            kept += not found.ruled_out[1]
        wanted = ">= 80%" if difference == 0.08 else "about 80%" if difference > 0.051 else "(power)"
        setting = f"1 rival, discordance 0.15, {100 * difference:+.1f} points, {questions} questions"
        yield "the better cell is named", setting, wanted, int(named), count
        yield "the same, by the paired t-test", setting, "(power)", int(by_t), count
        if difference == 0.05:
            yield "the worse cell is not ruled out", setting, "(4 of 5)", int(kept), count
    for cells, difference, sizes in (
        (12, 0.08, SINGLE),
        (12, 0.12, SINGLE),
        (6, 0.10, SMALL),
        (6, 0.05, LARGE),
    ):
        means = np.array([0.75 + difference] + [0.75] * (cells - 1))
        named = by_t = 0
        for _, sums in drawn([6], count, sizes, means):
            named += testing.best_set(sums, sizes.astype(float), **QUICK).lo[0] > 0
            by_t += _first_is_ahead(sums, sizes)
        setting = f"{100 * difference:+.0f} points above {cells - 1}; {label(sizes)}"
        yield f"the best of {cells} is named", setting, "(power)", int(named), count
        yield "the same, by paired t-tests", setting, "(power)", int(by_t), count


def _first_is_ahead(sums, sizes):
    """Whether the first cell beats each other cell by the paired t-test of clusters (CR1), each at 2.5%."""
    lead, count, clusters = sums[0] - sums[1:], sizes.sum(), len(sizes)
    mean = lead.sum(axis=1) / count
    squares = ((lead - mean[:, None] * sizes) ** 2).sum(axis=1) * clusters / (clusters - 1)
    return bool((mean > stats.t.isf(0.025, clusters - 1) * np.sqrt(squares) / count).all())


def monte_carlo(count):
    """Whether another order of the questions would have decided otherwise, near the threshold."""
    flipped = undecided = tried = 0
    sizes = np.ones(100)
    for _, sums in drawn(8, 10 * count, np.ones(100, dtype=np.int64), [0.8, 0.7]):
        if not 0.03 < testing.best_set(sums, sizes, looks=1, first=1000).p[1] < 0.07:
            continue
        tried += 1
        # What is added to both cells changes the data's digest, and no difference.
        found = [testing.best_set(sums + 0.125 * i, sizes) for i in range(4)]
        flipped += len({bool(f.p[1] <= 0.05) for f in found if f.settled.all()}) > 1
        undecided += not all(f.settled.all() for f in found)
        if tried >= max(count // 4, 1):
            break
    yield (
        "another seed decides otherwise",
        "2 cells, p within 0.03 .. 0.07, 4 seeds each",
        "<= 0.4%",
        flipped,
        tried,
    )
    yield "not settled after 160,000 resamples", "the same, with any of 4 seeds", "(rare)", undecided, tried
