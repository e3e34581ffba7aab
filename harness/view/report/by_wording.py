"""Comparisons of the best with its rivals, in groups of questions that are worded alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from harness.decision.findings import ByWording
from harness.view.report.effects import is_clear
from harness.view.verdict_words import limits, points

_SAID = {
    "low": "few words shared with the evidence",
    "middle": "some words shared",
    "high": "many words shared",
    "unknown": "overlap unknown",
}


class Part(NamedTuple):
    """One group of questions."""

    group: str
    questions: int
    text: str
    limits: str
    is_clear: bool


class Wording(NamedTuple):
    """``depends``: the sign differs between groups by more than chance."""

    first: str
    second: str
    depends: bool
    parts: Sequence[Part]


def wordings(found: Sequence[ByWording]) -> list[Wording]:
    """Each comparison with its groups, few shared words first."""
    return [
        Wording(
            one.first,
            one.second,
            one.comparison.changes_sign,
            [
                Part(
                    _SAID.get(group.group, group.group),
                    group.questions,
                    points(group.difference.value, sign=True),
                    limits(group.difference, scale=100, digits=1),
                    is_clear(group.difference),
                )
                for group in sorted(one.comparison.groups, key=_place)
            ],
        )
        for one in found
    ]


def depends(found: Sequence[ByWording]) -> list[str]:
    """A sentence for each comparison whose sign differs between groups."""
    return [
        f"Whether {one.first} or {one.second} is better depends on "
        + ("how users word their questions." if one.groups == "overlap" else "where the questions come from.")
        for one in found
        if one.comparison.changes_sign
    ]


def _place(group: object) -> int:
    names = list(_SAID)
    name = str(getattr(group, "group", ""))
    return names.index(name) if name in names else len(names)
