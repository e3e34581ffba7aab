"""What was observed to help, beside what is suspected: cells that differ in one setting, on the questions that one of them missed.

Observed, not proven: of the questions that a cell misses, any other cell finds some, as it misses others. So both directions are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from harness.finished import FinishedCell, FinishedSweep
from harness.unused import UNUSED

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


def what_helped(sweep: FinishedSweep) -> dict[str, dict[str, list[Helped]]]:
    """For each cell and each cause of its unanswered questions, one entry per axis, the most helpful first.

    Of several values of an axis the one that finds most is given (then the one that loses least). Causes without a question, and axes of which no
    other value was scored with everything else equal, are left out.
    """
    causes = np.stack([cell.questions["cause"].astype(str) for cell in sweep.cells]) if sweep.cells else None
    if causes is None:
        return {}
    is_found = causes == FOUND
    neighbours = [_neighbours(sweep, cell) for cell in sweep.cells]
    return {
        cell.name: {
            str(cause): _best_by_axis(
                [_helped(sweep, is_found, i, causes[i] == cause, setting, j) for setting, j in neighbours[i]]
            )
            for cause in np.unique(causes[i])
            if cause != FOUND
        }
        for i, cell in enumerate(sweep.cells)
    }


def _neighbours(sweep: FinishedSweep, cell: FinishedCell) -> list[tuple[str, int]]:
    """The setting and the position of every cell that differs in a single axis, not counting what does not matter to one of the two."""
    axes = [axis.lstrip("+") for axis in sweep.axes]
    found = []
    for j, other in enumerate(sweep.cells):
        values = {axis: {other.params[axis], cell.params[axis]} for axis in axes}
        different = [axis for axis, both in values.items() if len(both) > 1 and UNUSED not in both]
        if len(different) == 1:
            found.append((different[0], j))
    return found


def _helped(
    sweep: FinishedSweep,
    is_found: npt.NDArray[np.bool_],
    i: int,
    of_cause: npt.NDArray[np.bool_],
    setting: str,
    j: int,
) -> Helped:
    to = sweep.cells[j]
    return Helped(
        setting=setting,
        value=to.params[setting],
        to=to.name,
        found=int((of_cause & is_found[j]).sum()),
        of=int(of_cause.sum()),
        lost=int((is_found[i] & ~is_found[j]).sum()),
        had=int(is_found[i].sum()),
    )


def _best_by_axis(every: Sequence[Helped]) -> list[Helped]:
    best: dict[str, Helped] = {}
    for helped in sorted(every, key=lambda h: (-h.found, h.lost, h.to)):
        best.setdefault(helped.setting, helped)
    return sorted(best.values(), key=lambda h: (-h.found, h.lost, h.setting))
