"""The leaderboard: scores with intervals, distances to the best, other columns; and who is ruled out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, get_args

from markupsafe import Markup

from harness.decision.findings import Findings
from harness.results.finished import FinishedSweep
from harness.verdict import Interval, Standing, Status, Verdict
from harness.view.formats import (
    MetricColumn,
    columns,
    figure,
    legend,
    limits,
    point_limits,
    points,
    short,
)
from harness.view.report.drawing import forest

_UNKNOWN = Interval(math.nan, None, None)
_COSTS = (MetricColumn("query_ms_p95", "ms p95"), MetricColumn("index_mb", "index MB"))


class BoardField(NamedTuple):
    """A figure as it is written and as it is sorted by (empty where there is none)."""

    text: str
    key: str


class BoardRow(NamedTuple):
    """One cell. ``place`` is its place among the sweep's cells, which gives its colour."""

    place: int
    name: str
    picture: Markup
    score: BoardField
    limits: str
    behind: BoardField
    behind_limits: str
    status: str
    note: str
    to_baseline: BoardField
    baseline_limits: str
    fields: Sequence[BoardField]


class Board(NamedTuple):
    """``heads``: the columns of ``fields``; ``legend``: what each means."""

    metric: str
    heads: Sequence[MetricColumn]
    rows: Sequence[BoardRow]
    legend: Sequence[str]
    has_limits: bool
    baseline: str | None


def board(sweep: FinishedSweep, findings: Findings, *, same_chunks: bool) -> Board:
    """All scored cells, best first.

    Metrics that depend on the chunks are not comparable unless ``same_chunks``.
    """
    verdict, metric = findings.verdict, findings.metric
    heads = _heads(sweep, metric, same_chunks=same_chunks)
    standings = {s.name: s for s in verdict.standings} if verdict else {}
    means = [
        standings[cell.name].mean if cell.name in standings else Interval(cell.metric(metric), None, None)
        for cell in sweep.cells
    ]
    rows = []
    for i, (cell, mean, picture) in enumerate(zip(sweep.cells, means, forest(means), strict=True)):
        standing, to_baseline = standings.get(cell.name), findings.to_baseline.get(cell.name, _UNKNOWN)
        behind, behind_limits = _behind(standing, is_best=bool(verdict and verdict.standings[0] is standing))
        rows.append(
            BoardRow(
                place=i,
                name=cell.name,
                picture=picture,
                score=_field(metric, mean.value),
                limits=limits(mean),
                behind=behind,
                behind_limits=behind_limits,
                status=standing.status if standing else "",
                note=_note(standing, verdict),
                to_baseline=_difference(to_baseline),
                baseline_limits=point_limits(to_baseline),
                fields=[_field(column.metric, cell.metric(column.metric)) for column in heads],
            )
        )
    explained = [MetricColumn(metric, short(metric)), *(c for c in heads if c not in _COSTS)]
    said = [f"{title} {text}" for title, text in legend(explained).items()]
    return Board(short(metric), heads, rows, said, any(row.limits for row in rows), findings.baseline)


def by_status(verdict: Verdict | None) -> dict[str, list[Standing]]:
    """Each status with the cells that have it, winner first."""
    standings = verdict.standings if verdict else ()
    return {status: [s for s in standings if s.status == status] for status in get_args(Status)}


def _heads(sweep: FinishedSweep, metric: str, *, same_chunks: bool) -> list[MetricColumn]:
    """The columns beside the deciding metric that hold any figure, comparable ones first."""
    _, *others = columns(metric, sweep.k, same_chunks=same_chunks)
    shown = [c for c in (*others, *_COSTS) if not c.metric.startswith("precision")]
    known = [c for c in shown if any(math.isfinite(cell.metric(c.metric)) for cell in sweep.cells)]
    return sorted(known, key=lambda column: not column.comparable)


def _behind(standing: Standing | None, *, is_best: bool) -> tuple[BoardField, str]:
    """The distance to the best observed in points, with its simultaneous limits."""
    if standing is None or not math.isfinite(standing.to_best.value):
        return BoardField("–", ""), ""
    if is_best:
        return BoardField("best", "0"), ""
    return _difference(standing.to_best), point_limits(standing.to_best)


def _difference(interval: Interval) -> BoardField:
    if not math.isfinite(interval.value):
        return BoardField("–", "")
    return BoardField(points(interval.value, sign=True).split()[0], f"{interval.value:.6f}")


def _note(standing: Standing | None, verdict: Verdict | None) -> str:
    if standing is None or verdict is None or standing is verdict.standings[0]:
        return ""
    if standing.same_as is not None:
        return f"same results as {standing.same_as}"
    return "non-inferior" if standing.non_inferior else ""


def _field(metric: str, value: float) -> BoardField:
    return BoardField(figure(metric, value), f"{value:.6f}" if math.isfinite(value) else "")
