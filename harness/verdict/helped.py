"""What was observed to help, beside what is suspected: cells that differ in one setting, on the questions that one of them missed.

Observed, not proven: of the questions that a cell misses, any other cell finds some, as it misses others. So both directions are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.records import UNUSED

FOUND = "found"


class Helped(NamedTuple):
    """What one changed setting brought to the questions of one cause in one cell.

    ``setting``: the one that changes, to ``value``, in the cell ``to``; everything else is the same. ``found``: of the ``of`` questions with
    that cause, those that ``to`` finds. ``lost``: of the ``had`` questions that the cell finds, those that ``to`` does not.
    """

    setting: str
    value: str
    to: str
    found: int
    of: int
    lost: int
    had: int


def what_helped(
    names: Sequence[str], settings: Sequence[Mapping[str, str]], causes: Sequence[npt.NDArray[np.str_]]
) -> dict[str, dict[str, list[Helped]]]:
    """For each cell and each cause of its unanswered questions, one entry per axis, the most helpful first.

    ``settings``: each cell's values of the swept settings. ``causes``: each cell's cause of every question, in one order of the questions.
    Of several values of an axis the one that finds most is given (then the one that loses least). Causes without a question, and axes of which no
    other value was scored with everything else equal, are left out.
    """
    if not names:
        return {}
    is_found = np.stack(causes) == FOUND
    return {
        name: {
            str(cause): _best_by_axis(
                [
                    Helped(
                        setting=setting,
                        value=settings[j][setting],
                        to=names[j],
                        found=int(((causes[i] == cause) & is_found[j]).sum()),
                        of=int((causes[i] == cause).sum()),
                        lost=int((is_found[i] & ~is_found[j]).sum()),
                        had=int(is_found[i].sum()),
                    )
                    for setting, j in _neighbours(settings, i)
                ]
            )
            for cause in np.unique(causes[i])
            if cause != FOUND
        }
        for i, name in enumerate(names)
    }


def _neighbours(settings: Sequence[Mapping[str, str]], i: int) -> list[tuple[str, int]]:
    """The setting and the position of every cell that differs in a single axis, not counting what does not matter to one of the two."""
    found = []
    for j, other in enumerate(settings):
        values = {axis: {other[axis], value} for axis, value in settings[i].items()}
        different = [axis for axis, both in values.items() if len(both) > 1 and UNUSED not in both]
        if len(different) == 1:
            found.append((different[0], j))
    return found


def _best_by_axis(every: Sequence[Helped]) -> list[Helped]:
    best: dict[str, Helped] = {}
    for helped in sorted(every, key=lambda h: (-h.found, h.lost, h.to)):
        best.setdefault(helped.setting, helped)
    return sorted(best.values(), key=lambda h: (-h.found, h.lost, h.setting))
