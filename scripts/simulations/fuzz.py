"""Random small tables through every function that decides: no exception, no nan, and limits that make sense.

``faults(seed, first, count)`` gives one line for each broken promise, with the number of the table. A table
is made from the seed and its number alone, so a fault can be looked at again: ``--first NUMBER --count 1``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import traceback
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import astuple
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from harness.decision import baseline, compare
from harness.verdict import Interval, Outcomes, change, choice, interval, judge, pairs, power, simultaneous
from harness.verdict import best_set as comparisons
from harness.verdict.clusters import cluster_ids, cluster_sums, effective_clusters
from harness.verdict.effects import effects
from harness.verdict.sign_tests import exact_p, holm

MARGINS = (0.0, 0.01, 0.03, 0.2, 1.0)
COSTS = ("query_ms", "context_tokens", "index_mb")
FEW = 399
FULL = 200
TINY = 1e-9
EPSILON = 1e-6


class Table(NamedTuple):
    """Values, float64 (cells, questions), with clusters, settings, costs, groups and lexical overlaps."""

    values: np.ndarray
    clusters: np.ndarray
    settings: list
    costs: np.ndarray
    groups: np.ndarray
    overlap: np.ndarray
    margin: float
    rng: np.random.Generator

    @property
    def names(self):
        return tuple("·".join(cell.values()) for cell in self.settings)

    @property
    def outcomes(self):
        return Outcomes(self.names, self.values, self.clusters, self.costs)


def table(seed, number):
    """The table of that number: 1 to 6 cells, 1 to 60 questions, all kinds of clusters and values."""
    rng = np.random.default_rng([seed, number])
    questions = int(rng.choice([1, 2, 3, rng.integers(4, 16), rng.integers(10, 30), rng.integers(20, 61)]))
    settings = _settings(rng)
    values = _related(rng, _values(rng, len(settings), questions))
    return Table(
        values,
        _clusters(rng, questions),
        settings,
        rng.choice([0.0, 1.0, 1.01, 100.0], len(settings)),
        rng.choice(["written", "synthetic", "log"], questions),
        np.where(rng.random(questions) < 0.1, np.nan, np.round(rng.random(questions), 1)),
        float(rng.choice(MARGINS)),
        rng,
    )


def _settings(rng):
    models, chunks = rng.integers(1, 4), rng.integers(1, 4)
    cells = [{"model": f"m{m}", "chunk": str(c)} for m in range(models) for c in range(chunks)]
    if rng.random() < 0.3:
        cells.append({"model": "-", "chunk": "0"})
    kept = rng.permutation(len(cells))[: rng.integers(1, 7)]
    return [cells[place] for place in kept]


def _values(rng, cells, questions):
    shape, chance = (cells, questions), rng.choice([0.02, 0.3, 0.75, 0.98])
    hits = (rng.random(shape) < chance).astype(np.float64)
    made = {
        "hits": lambda: hits,
        "zeros": lambda: np.zeros(shape),
        "ones": lambda: np.ones(shape),
        "constant": lambda: np.full(shape, 0.37),
        "constants": lambda: np.repeat(rng.random((cells, 1)), questions, axis=1),
        "thirds": lambda: rng.integers(0, 4, shape) / 3,
        "shares": lambda: rng.random(shape),
        "small": lambda: rng.random(shape) * 1e-4,
        "near ones": lambda: 1 - rng.random(shape) * 1e-7,
        "minus zero": lambda: np.where(hits > 0, hits, -0.0),
        "few differ": lambda: np.where(rng.random(shape) < 0.04, 1 - hits[:1], hits[:1]),
        "few differ a little": lambda: hits[:1] * 0.9 + np.where(rng.random(shape) < 0.05, 1e-3, 0),
        # Sums are rounded to 12 digits; no sum of these lies where another order rounds otherwise.
        "sums in another order": lambda: hits[:1] * 0.5 + rng.choice([0.0, 1e-16, 3e-14], shape),
    }
    return made[rng.choice(list(made))]()


def _related(rng, values):
    """With luck two cells are equal, opposite, or differ by questions that cancel each other."""
    cells, questions = values.shape
    if cells < 2 or rng.random() < 0.6:
        return values
    one, other = rng.permutation(cells)[:2]
    kind = rng.integers(0, 4)
    values[other] = 1 - values[one] if kind == 1 else values[one]
    if kind == 2 and questions > 1:
        swapped = rng.permutation(questions)[:2]
        values[one, swapped], values[other, swapped] = [1.0, 0.0], [0.0, 1.0]
    if kind == 3:
        values[other, rng.integers(questions)] = rng.choice([0.0, 1.0, 0.5])
    return values


def _clusters(rng, questions):
    each = np.arange(questions)
    made = (
        each,
        each,
        np.zeros(questions, dtype=np.int64),
        each // 2,
        each % 12,
        rng.integers(0, questions, questions),
        np.minimum(rng.geometric(0.2, questions), 20),
        np.maximum(each - questions // 2, 0),
        rng.integers(-(2**40), 2**40, questions),
    )
    return made[rng.integers(len(made))].astype(np.int64)


@contextmanager
def few_resamples(first=FEW):
    """One look with few resamples, in place of five with up to 160,000: the same code, but faster."""
    quick = {"looks": 1, "first": first}
    saved = [
        (judge, "best_set", partial(comparisons.best_set, **quick)),
        (change, "limits_alone", partial(pairs.limits_alone, **quick)),
        (simultaneous, "step_down", partial(simultaneous.step_down, **quick)),
        (interval, "RESAMPLES", first),
    ]
    before = [getattr(module, name) for module, name, _ in saved]
    for module, name, value in saved:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(saved, before, strict=True):
            setattr(module, name, value)


def _holds(found, bounds=None):
    """What is wrong with an interval: nan, order, the estimate outside, or limits beyond the possible."""
    if not np.isfinite(found.value):
        yield f"the estimate is {found.value}"
    if (found.lo is None) != (found.hi is None):
        yield "one limit is missing"
    if found.lo is None or found.hi is None:
        return
    if not np.isfinite([found.lo, found.hi]).all():
        yield f"limits {found.lo}, {found.hi}"
    if not found.lo - TINY <= found.value <= found.hi + TINY:
        yield f"{found.value} lies outside of {found.lo} to {found.hi}"
    if bounds and not bounds[0] - TINY <= found.lo <= found.hi <= bounds[1] + TINY:
        yield f"limits {found.lo}, {found.hi} beyond {bounds}"


def _judged(given):
    """A verdict and everything that a verdict promises."""
    verdict = judge.judge(given.outcomes, given.margin)
    json.dumps(verdict.to_json(), allow_nan=False)
    standings = verdict.standings
    share = (0.0, 1.0) if given.values.min() >= 0 and given.values.max() <= 1 else None
    for standing in standings:
        yield from (f"mean of {standing.name}: {wrong}" for wrong in _holds(standing.mean, share))
        yield from (f"{standing.name} to the best: {wrong}" for wrong in _holds(standing.to_best))
        yield from _standing(standing, verdict)
    means = [round(standing.mean.value, 11) for standing in standings]
    if means != sorted(means, reverse=True):
        yield f"standings are not in order: {means}"
    yield from _winner(verdict)
    for number in (verdict.required_sample_size, verdict.minimum_detectable_effect):
        if number is not None and not (np.isfinite(number) and number > 0):
            yield f"a number of the verdict is {number}"
    if verdict.expected is not None and not (
        given.values.min() - TINY <= verdict.expected <= given.values.max() + TINY
    ):
        yield f"expected {verdict.expected}"
    yield from _chosen(given, verdict)
    yield from _reordered(given, verdict)


def _winner(verdict):
    if verdict.winner is None:
        return
    lead = verdict.standings[0]
    if lead.name != verdict.winner or lead.to_best.lo is None or lead.to_best.lo <= 0:
        yield f"the winner {verdict.winner} is not shown to be ahead"
    if any(s.status != "ruled out" for s in verdict.standings[1:] if s.same_as != verdict.winner):
        yield "a cell beside the winner is not ruled out"


def _standing(standing, verdict):
    to_best, margin = standing.to_best, verdict.margin
    if verdict.method == "none" and (standing.status != "not ruled out" or standing.mean.lo is not None):
        yield f"{standing.name} is judged on too few clusters"
    if to_best.lo is None or to_best.hi is None:
        if standing.status != "not ruled out" or standing.non_inferior:
            yield f"{standing.name} is {standing.status} without limits"
        return
    if standing.settled and (standing.status == "ruled out") != (to_best.hi < 0):
        yield f"{standing.name} is {standing.status} with the upper limit {to_best.hi}"
    if standing.non_inferior != (to_best.lo > -margin):
        yield f"{standing.name} is non-inferior: {standing.non_inferior}, lower limit {to_best.lo}"
    if to_best.lo > 0 and standing.status == "ruled out":
        yield f"{standing.name} is ahead and ruled out"


def _chosen(given, verdict):
    rng = given.rng
    costs = {
        name: {key: float(rng.choice([0.0, 1.0, 1.1, 50.0, np.nan])) for key in COSTS} for name in given.names
    }
    prices = {name: choice.CellPrice(of) for name, of in costs.items()}
    chosen = choice.choose(verdict, prices, COSTS, given.margin)
    by_name = {s.name: s for s in verdict.standings}
    taken, best = by_name[chosen.name], by_name[chosen.best]
    equal = best.name in {taken.name, taken.same_as} or taken.name == best.same_as
    if chosen.name != chosen.best and not (taken.non_inferior or equal):
        yield f"{chosen} is taken without being shown to be no worse"
    if chosen.required_sample_size is not None and chosen.required_sample_size < 1:
        yield f"{chosen} needs {chosen.required_sample_size} questions"
    json.dumps(chosen.to_json(), allow_nan=False)
    limits = {key: float(rng.choice([0.0, 1.0, 20.0])) for key in COSTS[: rng.integers(0, 3)]}
    missed = choice.misses(costs, limits)
    if (missed.nearest is None) == bool(missed.of_cell) or not set(missed.of_cell) <= set(costs):
        yield f"{missed} of {limits}"
    choice.worth_changing(
        taken.to_best, prices[chosen.name], prices[rng.choice(given.names)], COSTS, given.margin
    )


def _reordered(given, verdict):
    """The order of cells and questions, the numbers of clusters, and the sign of zero change nothing."""
    cells, questions = given.rng.permutation(len(given.names)), given.rng.permutation(given.values.shape[1])
    names = dict(enumerate(given.rng.permutation(given.values.shape[1] + 7)))
    which = cluster_ids([str(cluster) for cluster in given.clusters])
    again = judge.judge(
        Outcomes(
            tuple(given.names[cell] for cell in cells),
            given.values[np.ix_(cells, questions)] + 0.0,
            np.array([names[which[question]] for question in questions]),
            given.costs[cells],
        ),
        given.margin,
    )
    if _rounded(again) != _rounded(verdict):
        yield "another order gives another verdict"


def _rounded(verdict):
    def near(number):
        return None if number is None else round(number, 9) + 0.0

    standings = [
        [s.name, s.status, s.non_inferior, s.settled, s.same_as]
        + [near(number) for i in (s.mean, s.to_best) for number in (i.value, i.lo, i.hi)]
        for s in verdict.standings
    ]
    return standings, verdict.winner, near(verdict.minimum_detectable_effect), near(verdict.expected)


def _changed(given):
    """The change from a cell to another, as the gate, verify and a baseline see it."""
    differences = given.values[-1] - given.values[0]
    effective = effective_clusters(given.clusters)
    found = change.change(differences, given.clusters, given.margin, 0.01)
    backwards = change.change(-differences, given.clusters, given.margin, 0.01)
    for one, other in ((found, backwards), (backwards, found)):
        yield from _holds(one.difference, (-1.0, 1.0))
        if (one.better, one.worse) != (other.worse, other.better):
            yield "backwards, other questions differ"
        if one.required_sample_size is not None and one.required_sample_size < 1:
            yield f"{one.required_sample_size} questions would decide"
        yield from _outcome(one, given.margin)
    if found.difference.lo is None:
        if effective >= 10:
            yield f"no limits with {effective} clusters"
        return
    unseen, (mean, lo, hi) = 1 - 0.05 ** (1 / effective), astuple(found.difference)
    if lo > max(mean - unseen, -1) + TINY or hi < min(mean + unseen, 1) - TINY:
        yield f"{found.difference} is narrower than nothing seen in {effective} clusters, {unseen}"
    mirrored = (-backwards.difference.hi, -backwards.difference.lo)
    yield from _moved("backwards, the limits", (lo, hi), mirrored, 1 / 3)


def _outcome(found, margin):
    lo, hi = found.difference.lo, found.difference.hi
    if lo is None and found.outcome != "undecided":
        yield f"{found.outcome} without limits"
    if found.outcome == "non-inferior" and not lo > -margin:
        yield f"non-inferior by {lo}"
    if found.outcome == "regression" and not (hi < 0 and found.difference.value <= -0.01):
        yield f"a regression by {found.difference}"
    if found.outcome == "non-inferior" and found.difference.value <= 0 and found.least_loss >= margin:
        yield f"non-inferior within {margin}, where a loss of {found.least_loss} is not excluded"


def _moved(what, before, after, share):
    """Limits that move by more than a share of their distance."""
    most = share * max(before[1] - before[0], after[1] - after[0]) + 10 * EPSILON
    if np.abs(np.subtract(before, after)).max() > most:
        yield f"{what} move from {before} to {after}"


def _continuous(given):
    """One question moved by a millionth moves the limits of a change by less than a third of their width.

    Another millionth is another seed, so limits move by the error of the resamples, too.
    """
    differences = given.values[-1] - given.values[0]
    before = change.difference_interval(differences, given.clusters)
    place = given.rng.integers(len(differences))
    nearby = differences.copy()
    nearby[place] += EPSILON if nearby[place] <= 0 else -EPSILON
    after = change.difference_interval(nearby, given.clusters)
    if before.lo is not None:
        yield from _moved(
            "after a millionth, the limits", (before.lo, before.hi), (after.lo, after.hi), 1 / 3
        )
    yield from _verdict_continuous(given, place)


def _verdict_continuous(given, place):
    """The same for a verdict, where no pair of cells begins or ceases to be equal."""
    cell = given.rng.integers(len(given.values))
    nearby = given.values.copy()
    nearby[cell, place] += EPSILON if nearby[cell, place] < 0.5 else -EPSILON
    if len(np.unique(nearby, axis=0)) != len(np.unique(given.values, axis=0)):
        return
    before, after = (
        {
            s.name: s.to_best
            for s in judge.judge(
                Outcomes(given.names, values, given.clusters, given.costs), given.margin
            ).standings
        }
        for values in (given.values, nearby)
    )
    for name, limits in before.items():
        if limits.lo is not None and after[name].lo is not None:
            yield from _moved(
                f"{name} to the best: after a millionth, the limits",
                (limits.lo, limits.hi),
                (after[name].lo, after[name].hi),
                1 / 2,
            )


def _against_baseline(given):
    numbers = SimpleNamespace(outcomes=given.outcomes)
    for name in (given.names[0], "production.yaml"):
        base = baseline.Baseline(name, given.values[0].copy(), {}, None, {name})
        found = baseline.differences(base, numbers)
        if set(found) != set(given.names) - {name}:
            yield f"{set(found)} are compared with {name}"
        for cell, difference in found.items():
            yield from (f"{cell} to the baseline: {wrong}" for wrong in _holds(difference, (-1.0, 1.0)))


def _compared(given):
    """The groups of a comparison, and the questions that changed most."""
    ahead = given.values[0] - given.values[-1]
    for groups in (simultaneous.thirds(given.overlap), given.groups, np.full(len(ahead), "one")):
        found = simultaneous.by_group(ahead, given.clusters, groups)
        if sum(group.questions for group in found.groups) != len(ahead):
            yield "groups lose questions"
        for group in found.groups:
            yield from (f"group {group.group}: {wrong}" for wrong in _holds(group.difference))
        signs = {g.difference.lo > 0 for g in found.groups if _excludes_zero(g.difference)}
        if found.changes_sign and len(signs) < 2:
            yield f"a change of sign that no limits show: {found}"
    yield from _most_changed(given, ahead)


def _most_changed(given, ahead):
    ranks = np.where(
        given.rng.random((2, len(ahead))) < 0.3, np.nan, given.rng.integers(1, 9, (2, len(ahead)))
    )
    ids = np.array([f"q{place}" for place in range(len(ahead))])
    causes = np.full(len(ahead), "found")
    cells = [SimpleNamespace(questions={"question_id": ids, "first_rank": r, "cause": causes}) for r in ranks]
    sweep = SimpleNamespace(quoted_evidence=lambda _: [])
    both = given.values[[0, -1]]
    for sign in (1, -1):
        found = compare._most_changed(  # noqa: SLF001
            cells, sweep, np.arange(len(ahead)), both, 5, sign
        )
        if len(found) != min(5, int((sign * ahead > 1e-9).sum())):
            yield f"{len(found)} questions changed most"
        if any(sign * (one.values[0] - one.values[1]) <= 0 for one in found):
            yield "a question changed in the other direction"


def _excludes_zero(found: Interval):
    return found.lo is not None and found.hi is not None and (found.lo > 0 or found.hi < 0)


def _effects(given):
    for effect in effects(given.outcomes, given.settings):
        for found in (effect.difference, *(pair.difference for pair in effect.pairs)):
            yield from (f"effect of {effect.axis}: {wrong}" for wrong in _holds(found))
        shown = {p.difference.lo > 0 for p in effect.pairs if _excludes_zero(p.difference)}
        if effect.changes_sign and (len(shown) < 2 or not effect.depends):
            yield f"a change of sign of {effect.axis} that no limits show"
        if effect.depends_on and not effect.depends:
            yield f"{effect.axis} depends on {effect.depends_on}, and does not depend"


def _tests(given):
    """Limits and p-values of the single tests."""
    sums, sizes = cluster_sums(given.values, given.clusters)
    differences = (sums - sums[0])[-1]
    if np.count_nonzero(np.abs(differences) > 1e-12) <= 16:
        yield from _exact(differences)
    p = holm(given.rng.random(5))
    if not ((p >= 0) & (p <= 1)).all():
        yield f"Holm's p {p}"
    effective = effective_clusters(given.clusters)
    if len(sums) > 1 and effective >= 10:
        found = comparisons.best_set(sums, sizes, looks=1, first=FEW)
        if not ((found.p > 0) & (found.p <= 1)).all() or np.isnan([found.lo, found.hi]).any():
            yield f"{found}"
        if not (found.ruled_out == (found.hi < 0)).all() or (found.lo > found.hi + TINY).any():
            yield f"{found} contradicts itself"
    several = simultaneous.several(given.values - given.values.mean(), given.clusters)
    for one, shown in zip(several.intervals, several.shown, strict=True):
        yield from _holds(one)
        if shown and not _excludes_zero(one):
            yield f"{one} is shown not to be zero"


def _exact(differences):
    p = exact_p(differences)
    sizes = np.abs(differences[np.abs(differences) > 1e-12])
    if len(sizes) <= 8:
        signs = np.array(list(itertools.product([1, -1], repeat=len(sizes)))).reshape(2 ** len(sizes), -1)
        expected = float((signs @ sizes >= differences.sum() - 1e-9).mean())
        if abs(p - expected) > TINY:
            yield f"the exact p is {expected}, not {p}"
    if not 0 < p <= 1:
        yield f"the exact p is {p}"


def _planned(given):
    """Power: what can be shown is a share, and no smaller with fewer questions."""
    n, effective = given.values.shape[1], effective_clusters(given.clusters)
    discordance = float(given.rng.choice([0.0, 0.01, 0.15, 1.0]))
    found = power.minimum_detectable_effect(n, effective, discordance)
    more = power.minimum_detectable_effect(2 * n, 2 * effective, discordance)
    if found is not None and not (0 < found <= discordance and more is not None and more <= found):
        yield f"detectable are {found} with {n} questions, {more} with {2 * n}"
    differences = given.values[0] - given.values[-1]
    for number in (
        power.required_sample_size(differences, given.clusters),
        power.detectable_as_observed(differences, given.clusters),
    ):
        if number is not None and not (np.isfinite(number) and number > 0):
            yield f"planned {number}"


CHECKS = (_judged, _changed, _continuous, _against_baseline, _compared, _effects, _tests, _planned)


def faults(seed, first, count):
    """One line for each promise that a table breaks: its number, the check, and what is wrong.

    Every 200th table has the resamples of the program, the others have few. What moves with few must also
    move with all.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(first, first + count):
            given = table(seed, number)
            for check in CHECKS:
                with few_resamples() if number % FULL else nullcontext():
                    found = _found(check, given, [seed, number])
                if found and check is _continuous:
                    found = _found(check, given, [seed, number])
                yield from (f"table {number}, {check.__name__[1:]}: {wrong}" for wrong in found)


def _found(check, given, seed):
    again = given._replace(rng=np.random.default_rng([*seed, CHECKS.index(check)]))
    try:
        return list(check(again))
    except Exception:  # noqa: BLE001 - an exception is what is looked for
        return [" ".join(traceback.format_exc().split()[-40:])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100_000)
    options = parser.parse_args()
    started, found = time.perf_counter(), 0
    for line in faults(options.seed, options.first, options.count):
        found += 1
        print(line, flush=True)
    print(f"{options.count:,} tables, {found} faults, {time.perf_counter() - started:.0f} s")
    raise SystemExit(min(found, 1))


if __name__ == "__main__":
    main()
