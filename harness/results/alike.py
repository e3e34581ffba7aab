"""Cells with the same results: they are one line wherever cells are listed."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results.finished import FinishedCell

# Columns about the question, or about what the cell did not find; they are the same where the scores are.
_NOT_SCORES = "OSU"


def same_results(cells: Sequence[FinishedCell]) -> dict[str, str]:
    """Each cell that repeats an earlier one of ``cells``, with the name of the first.

    Every metric of every question is equal. Cells of equal scores are in the order of their cost.
    """
    first: dict[tuple[tuple[str, bytes], ...], str] = {}
    found = {}
    for cell in cells:
        columns = sorted(cell.questions.items())
        key = tuple((n, column.tobytes()) for n, column in columns if column.dtype.kind not in _NOT_SCORES)
        if first.setdefault(key, cell.name) != cell.name:
            found[cell.name] = first[key]
    return found


def alike(cells: Sequence[FinishedCell], *names: str) -> set[str]:
    """The cells of these ``names``, and all with the same results."""
    first = {cell.name: cell.name for cell in cells} | same_results(cells)
    return {name for name, of in first.items() if of in {first[one] for one in names}}
