"""Which cells are shown to be no worse: a claim of its own, not the absence of a difference."""

from __future__ import annotations

from harness.verdict import BoolArray
from harness.verdict.best_set import BestSet


def non_inferior(found: BestSet, margin: float) -> BoolArray:
    """Bool (cells,): the cell's mean lies less than ``margin`` below that of the truly best cell.

    Which cell is the best is not known: the best observed was selected, and looks better than it is. So a cell must be shown to
    lie less than the margin below *every* other cell (Berger 1982, an intersection-union test), each by the critical value of
    Dunnett's many-to-one comparisons with that other cell at 2.5%. One of these others is the truly best, and its comparisons hold
    for all cells at once: so do all claims together, with probability 97.5% at least.
    """
    shown: BoolArray = found.lo > -margin
    return shown
