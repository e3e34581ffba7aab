"""Whether a comparison depends on how users word their questions, or on where the questions come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import InputError
from harness.records import FloatArray, IntArray
from harness.verdict import Interval
from harness.verdict.simultaneous import several

THIRDS = ("low", "middle", "high")


@dataclass(frozen=True)
class GroupDifference:
    """One group of questions: how many, and the mean difference with limits that hold for all groups at once."""

    group: str
    questions: int
    difference: Interval


@dataclass(frozen=True)
class Comparison:
    """A comparison of two cells, group by group.

    ``changes_sign``: one is shown better in one group and the other in another; a difference of sign that may be chance does not
    count.
    """

    groups: Sequence[GroupDifference]
    changes_sign: bool


def thirds(overlap: FloatArray) -> list[str]:
    """``low``, ``middle`` or ``high`` for each question: thirds of the overlap of question and evidence, float64 (questions,).

    Equal values share a third, so thirds may differ in size, or be missing; nan is ``unknown``.
    """
    known = np.isfinite(overlap)
    if not known.any():
        return ["unknown"] * len(overlap)
    first, second = np.quantile(overlap[known], [1 / 3, 2 / 3], method="inverted_cdf")
    place = (overlap > first).astype(np.int64) + (overlap > second)
    return [
        THIRDS[i] if is_known else "unknown"
        for i, is_known in zip(place.tolist(), known.tolist(), strict=True)
    ]


def by_group(
    differences: FloatArray, clusters: IntArray, groups: Sequence[str] | npt.NDArray[np.str_]
) -> Comparison:
    """The mean difference in every group of questions, groups in the order in which they appear.

    ``differences``: float64 (questions,), one cell minus the other. Each group has limits of risk 5% / groups (Bonferroni), none
    below ten effective clusters; a change of sign takes two groups whose limits lie on different sides of zero (Gail & Simon 1985).
    """
    if not len(differences) == len(clusters) == len(groups):
        raise InputError(
            f"A comparison by group has {len(differences)} differences, {len(clusters)} clusters and {len(groups)} groups;"
            " give one of each per question."
        )
    labels = np.asarray(groups, dtype=str)
    found, signs = [], set()
    names = list(dict.fromkeys(labels.tolist()))
    for name in names:
        inside = labels == name
        one = several(differences[None, inside], clusters[inside], risk=0.05 / len(names))
        interval = one.intervals[0]
        found.append(GroupDifference(name, int(inside.sum()), interval))
        if one.shown[0]:
            signs.add(interval.value > 0)
    return Comparison(found, len(signs) > 1)
