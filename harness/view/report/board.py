"""The leaderboard: scores with intervals, distances to the best, and other columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.decision.findings import Findings
from harness.results.alike import same_results
from harness.results.finished import FinishedCell, FinishedSweep
from harness.verdict import Interval, Standing
from harness.view.formats import MetricColumn, columns, legend, short
from harness.view.notes import noted_in_passing
from harness.view.report.drawing import forest

_COSTS = (MetricColumn("query_ms_p95", "about ms"), MetricColumn("index_mb", "index MB"))


class BoardRow(NamedTuple):
    """One cell: place in the sweep, score with picture, and its standing where there is a verdict."""

    place: int
    cell: FinishedCell
    mean: Interval
    picture: Markup
    standing: Standing | None


class Board(NamedTuple):
    """``heads``: the columns beside the deciding ``metric``; ``legend``: what each means."""

    metric: str
    heads: Sequence[MetricColumn]
    rows: Sequence[BoardRow]
    legend: Sequence[str]


def board(sweep: FinishedSweep, findings: Findings, *, same_chunks: bool) -> Board:
    """All scored cells, best first by the deciding metric; those with the same results are one row.

    The deciding metric may be another than the sweep's own.

    Metrics that depend on the chunks are not comparable unless ``same_chunks``.
    """
    verdict, metric, twins = findings.verdict, findings.metric, same_results(sweep.cells)
    heads = _heads(sweep, metric, same_chunks=same_chunks)
    standings = {s.name: s for s in verdict.standings} if verdict else {}
    means = [
        standings[cell.name].mean if cell.name in standings else Interval(cell.metric(metric), None, None)
        for cell in sweep.cells
    ]
    rows = [
        BoardRow(place, cell, mean, picture, standings.get(cell.name))
        for place, (cell, mean, picture) in enumerate(zip(sweep.cells, means, forest(means), strict=True))
        if cell.name not in twins
    ]
    rows.sort(key=lambda row: -row.mean.value if math.isfinite(row.mean.value) else math.inf)
    explained = [MetricColumn(metric, short(metric)), *(c for c in heads if c not in _COSTS)]
    questions = sweep.cells[0].content["questions"] if sweep.cells else {}
    said = [f"{title} {text}" for title, text in legend(explained, questions).items()]
    if _COSTS[0] in heads:
        said.append(f"about ms 95th percentile for a question; milliseconds {noted_in_passing(sweep)}")
    return Board(metric, heads, rows, said)


def _heads(sweep: FinishedSweep, metric: str, *, same_chunks: bool) -> list[MetricColumn]:
    """The columns beside the deciding metric that hold any figure, comparable ones first."""
    _, *others = columns(metric, sweep.k, same_chunks=same_chunks)
    shown = [c for c in (*others, *_COSTS) if not c.metric.startswith("precision")]
    known = [c for c in shown if any(math.isfinite(cell.metric(c.metric)) for cell in sweep.cells)]
    return sorted(known, key=lambda column: not column.comparable)
