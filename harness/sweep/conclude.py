"""What a sweep that has just ended shows: the verdict in words, limits for its tables, and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from harness.decision.findings import found_out
from harness.errors import HarnessError
from harness.results.alike import same_results
from harness.results.finished import Collected
from harness.results.load import read_folder
from harness.tracker import CellVerdict
from harness.verdict import Verdict
from harness.view.notes import about_budgets
from harness.view.report.page import write_page
from harness.view.verdict_words import verdict_words

REPORT = "report.html"


class Conclusion(NamedTuple):
    """The verdict of a sweep and its report.

    - ``verdict``: its sentences, the answer first.
    - ``limits``: cell to the interval of its primary metric, by flat name.
    - ``verdicts``: what is noted on each tracked run.
    - ``report``: the report's file.
    - ``twins``: cells with the results of another, cheaper one; see ``same_results``.

    Without a verdict (one cell, or a metric by which none can be had) there are no sentences.
    """

    verdict: Sequence[str]
    limits: Mapping[str, Mapping[str, float]]
    verdicts: Sequence[CellVerdict]
    report: Path | None
    twins: Mapping[str, str] = MappingProxyType({})


def concluded(folder: Path, cells: Collected) -> Conclusion:
    """The verdict over the ``cells`` of the sweep in ``folder``, and its report there.

    Cells that can't be compared have no conclusion.
    """
    try:
        sweep = read_folder(folder, cells=cells)
    except HarnessError:
        return Conclusion((), {}, (), None)
    findings = found_out(sweep)
    report = write_page(sweep, findings, folder / REPORT)
    if findings.verdict is None:
        return Conclusion((), {}, (), report)
    metrics = dict.fromkeys((cell.name for cell in sweep.cells), findings.metric)
    limits = limits_of(findings.verdict, metrics)
    run_ids = {cell.name: cell.run_id for cell in sweep.cells}
    verdicts = cell_verdicts(findings.verdict, metrics, run_ids)
    words = verdict_words(findings.verdict, sweep)
    said = [words.headline, *words.details, *about_budgets(findings.budgets)]
    said = said if len(sweep.cells) > 1 else []
    return Conclusion(said, limits, verdicts, report, same_results(sweep.cells))


def limits_of(verdict: Verdict, metrics: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Cell to ``{metric_lo, metric_hi}`` of its metric in ``metrics``, where there is an interval."""
    return {
        standing.name: {
            f"{metrics[standing.name]}_lo": standing.mean.lo,
            f"{metrics[standing.name]}_hi": standing.mean.hi,
        }
        for standing in verdict.standings
        if standing.mean.lo is not None and standing.mean.hi is not None
    }


def cell_verdicts(
    verdict: Verdict, metrics: Mapping[str, str], run_ids: Mapping[str, str]
) -> list[CellVerdict]:
    """What is noted on each tracked cell's run."""
    limits = limits_of(verdict, metrics)
    return [
        CellVerdict(
            run_ids[standing.name],
            f"same as {standing.same_as}" if standing.same_as else standing.status,
            limits.get(standing.name, {}),
        )
        for standing in verdict.standings
        if run_ids.get(standing.name)
    ]
