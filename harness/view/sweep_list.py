"""The list of sweeps: ``python -m harness.report list``."""

from __future__ import annotations

from collections.abc import Sequence

from harness.results.sweeps import SweepLine, outputs
from harness.view.formats import figure, short
from harness.view.table import Head, TextTable


def sweep_list(sweeps: Sequence[SweepLine]) -> list[str]:
    """A line a sweep, the newest first; ``sweep=`` takes its name, or its folder in ``outputs/``."""
    if not sweeps:
        return [f"There is no sweep in {outputs()} yet."]
    heads = [Head("sweep", left=True), Head("cells"), Head("decided by", left=True), Head("best")]
    heads += [Head("", left=True), Head("folder", left=True)]
    rows = []
    for of in sweeps:
        cells = f"{of.finished:,}" + (f" of {of.cells:,}" if of.finished < of.cells else "")
        name, mean = of.best or ("no cell finished" if of.is_ended else "running, or stopped", float("nan"))
        folder = str(of.folder.relative_to(outputs()))
        rows.append([of.name, cells, short(of.primary), figure(of.primary, mean), name, folder])
    return TextTable(heads, rows).lines()
