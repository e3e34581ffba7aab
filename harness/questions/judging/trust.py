"""How far a judge can be trusted: what it said of known evidence and of passages taken by chance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from harness.questions.judging import Judgeable
from harness.questions.judging.answers import Judgements
from harness.verdict.interval import clopper_pearson

_RISK = 0.05


class ErrorRate(NamedTuple):
    """``wrong`` answers of ``of``."""

    wrong: int
    of: int

    @property
    def limits(self) -> tuple[float, float]:
        """Clopper and Pearson's 95% limits of the rate; 0 and 1 where nothing was asked."""
        return clopper_pearson(self.wrong / self.of, self.of, _RISK) if self.of else (0.0, 1.0)

    def as_object(self) -> dict[str, Any]:
        """The counts with their limits."""
        low, high = self.limits
        return {"wrong": self.wrong, "of": self.of, "low": round(low, 4), "high": round(high, 4)}

    def __str__(self) -> str:
        if not self.of:
            return "none to measure by"
        low, high = self.limits
        return (
            f"{self.wrong:,} of {self.of:,} ({self.wrong / self.of:.1%}, 95% limits {low:.1%} to {high:.1%})"
        )


class Trust(NamedTuple):
    """``misses`` of known evidence, and ``false_alarms`` among passages taken by chance."""

    misses: ErrorRate
    false_alarms: ErrorRate

    @property
    def accuracy(self) -> float | None:
        """The share of right answers about evidence or about passages by chance, whichever is smaller.

        None where neither was asked about.
        """
        shares = [1 - rate.wrong / rate.of for rate in self if rate.of]
        return min(shares) if shares else None


def trust(judged: Iterable[tuple[Judgeable, Judgements]]) -> Trust:
    """The error rates. An unusable answer sees no evidence; what was not asked counts in neither."""
    misses = known = alarms = random = 0
    for asked, judgements in judged:
        for each, passage in asked.passages.items():
            stated = judgements.stated.get(each, () if each in judgements.faults else None)
            if stated is None:
                continue
            told = {one.evidence for one in stated}
            inside = asked.known(passage)
            known += len(inside)
            misses += len(set(inside) - told)
            random += each == asked.random
            alarms += each == asked.random and bool(told)
    return Trust(ErrorRate(misses, known), ErrorRate(alarms, random))
