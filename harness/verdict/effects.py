"""What each setting does: matched differences, and whether they depend on the other settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from harness.records import UNUSED, FloatArray
from harness.verdict import Interval, Outcomes
from harness.verdict.simultaneous import several


@dataclass(frozen=True)
class MatchedPair:
    """Two cells that differ in one setting. ``difference``: second minus first, with simultaneous limits."""

    first: str
    second: str
    settings: Mapping[str, str]
    difference: Interval


@dataclass(frozen=True)
class Effect:
    """What going from one level of an axis to another does.

    ``difference``: mean over the matched ``pairs``, ``second`` minus ``first``, with its own 95% limits.
    ``depends``: the pairs differ among themselves by more than chance, so the pairs are to be read one by
    one. ``depends_on``: the axes on whose levels the effect is shown to differ. ``changes_sign``: it is shown
    to help in one combination and to harm in another.
    """

    axis: str
    first: str
    second: str
    difference: Interval
    pairs: Sequence[MatchedPair]
    depends: bool
    depends_on: tuple[str, ...]
    changes_sign: bool


def effects(outcomes: Outcomes, settings: Sequence[Mapping[str, str]]) -> list[Effect]:
    """The effect of every axis between any two of its levels, over all combinations with both levels.

    ``settings``: axis to level for each cell, the same axes for every cell. Axes and levels come in the order
    in which they appear. ``-`` marks a setting that a cell ignores: it matches every level. Two levels
    without a common combination have no effect in the list. The risk of a wrong ``depends`` or
    ``changes_sign`` anywhere in the list is 5% each.
    """
    matched = []
    for axis in settings[0] if settings else ():
        levels = list(dict.fromkeys(s[axis] for s in settings if s[axis] != UNUSED))
        for first, second in combinations(levels, 2):
            pairs = _pairs(settings, axis, first, second)
            if pairs:
                matched.append((axis, first, second, pairs))
    risk = 0.05 / max(len(matched), 1)
    return [_effect(outcomes, settings, *each, risk) for each in matched]


def _pairs(
    settings: Sequence[Mapping[str, str]], axis: str, first: str, second: str
) -> list[tuple[int, int]]:
    """Positions of the cells of each matched pair; an ignored setting matches any level."""
    return [
        (i, j)
        for i, low in enumerate(settings)
        for j, high in enumerate(settings)
        if (low[axis], high[axis]) == (first, second)
        and all(a == axis or high[a] in {level, UNUSED} or level == UNUSED for a, level in low.items())
    ]


def _effect(
    outcomes: Outcomes,
    settings: Sequence[Mapping[str, str]],
    axis: str,
    first: str,
    second: str,
    pairs: list[tuple[int, int]],
    risk: float,
) -> Effect:
    low, high = np.array(pairs).T
    differences = outcomes.values[high] - outcomes.values[low]
    mean = differences.mean(axis=0, keepdims=True)
    others = [
        {a: settings[j][a] if level == UNUSED else level for a, level in settings[i].items() if a != axis}
        for i, j in pairs
    ]
    each = several(differences, outcomes.clusters, risk)
    named = _by_level(differences - mean, others)
    contrasts = np.concatenate([differences - mean, *named.values()])
    differs = several(contrasts, outcomes.clusters, risk).shown
    depends_on, first_row = [], len(pairs)
    for other, rows in named.items():
        if differs[first_row : first_row + len(rows)].any():
            depends_on.append(other)
        first_row += len(rows)
    signs = {np.sign(i.value) for i, shown in zip(each.intervals, each.shown, strict=True) if shown}
    return Effect(
        axis=axis,
        first=first,
        second=second,
        difference=several(mean, outcomes.clusters).intervals[0],
        pairs=[
            MatchedPair(outcomes.names[i], outcomes.names[j], rest, interval)
            for (i, j), rest, interval in zip(pairs, others, each.intervals, strict=True)
        ],
        depends=bool(differs.any() or len(signs) > 1),
        depends_on=tuple(depends_on),
        changes_sign=len(signs) > 1,
    )


def _by_level(centred: FloatArray, others: Sequence[Mapping[str, str]]) -> dict[str, FloatArray]:
    """Axes with several levels: the centred mean of each level's pairs, float64 (levels, questions)."""
    found = {}
    for axis in others[0]:
        levels = list(dict.fromkeys(other[axis] for other in others))
        if len(levels) > 1:
            of = np.array([levels.index(other[axis]) for other in others])
            found[axis] = np.stack([centred[of == i].mean(axis=0) for i in range(len(levels))])
    return found
