"""The leaderboard's rows: score with its interval, distance to the best, what the verdict says, and the other columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from harness.decision.findings import Findings
from harness.results.finished import FinishedSweep
from harness.verdict import Interval, Standing, Verdict
from harness.view.report.forest import forest
from harness.view.table import Column, columns, legend, short
from harness.view.verdict_words import limits, points

_UNKNOWN = Interval(math.nan, None, None)
_COSTS = (Column("query_ms_p95", "ms p95"), Column("index_mb", "index MB"))


class Field(NamedTuple):
    """A figure as it is written and as it is sorted by (empty where there is none)."""

    text: str
    key: str


class Row(NamedTuple):
    """One cell. ``place`` is its place among the sweep's cells, which gives its colour."""

    place: int
    name: str
    picture: Markup
    score: Field
    limits: str
    behind: Field
    behind_limits: str
    status: str
    note: str
    to_baseline: Field
    baseline_limits: str
    fields: Sequence[Field]


class Board(NamedTuple):
    """``heads``: the columns of ``fields``; ``legend``: what each means."""

    metric: str
    heads: Sequence[Column]
    rows: Sequence[Row]
    legend: Sequence[str]
    has_limits: bool
    baseline: str | None


def board(sweep: FinishedSweep, findings: Findings, *, same_chunks: bool) -> Board:
    """All scored cells, best first. Metrics that depend on the chunking are not comparable unless ``same_chunks``."""
    verdict, metric = findings.verdict, findings.metric
    first = [
        c
        for c in columns(metric, sweep.k, same_chunks=same_chunks)[1:]
        if not c.metric.startswith("precision")
    ]
    heads = [
        c for c in (*first, *_COSTS) if any(math.isfinite(cell.metric(c.metric)) for cell in sweep.cells)
    ]
    heads = sorted(heads, key=lambda column: not column.comparable)
    standings = {s.name: s for s in verdict.standings} if verdict else {}
    means = [_mean(standings.get(cell.name), cell.metric(metric)) for cell in sweep.cells]
    rows = []
    for i, (cell, mean, picture) in enumerate(zip(sweep.cells, means, forest(means), strict=True)):
        standing = standings.get(cell.name)
        behind, behind_limits = _behind(standing, is_best=bool(verdict and verdict.standings[0] is standing))
        rows.append(
            Row(
                place=i,
                name=cell.name,
                picture=picture,
                score=_field(metric, mean.value),
                limits=limits(mean),
                behind=behind,
                behind_limits=behind_limits,
                status=standing.status if standing else "",
                note=_note(standing, verdict),
                to_baseline=_difference(findings.to_baseline.get(cell.name)),
                baseline_limits=limits(findings.to_baseline.get(cell.name, _UNKNOWN), scale=100, digits=1),
                fields=[_field(column.metric, cell.metric(column.metric)) for column in heads],
            )
        )
    explained = [
        " ".join(line.split())
        for line in legend([Column(metric, short(metric)), *(c for c in heads if c not in _COSTS)])
    ]
    has_limits = any(row.limits for row in rows)
    return Board(short(metric), heads, rows, explained, has_limits, findings.baseline)


def _mean(standing: Standing | None, value: float) -> Interval:
    return standing.mean if standing else Interval(value, None, None)


def _behind(standing: Standing | None, *, is_best: bool) -> tuple[Field, str]:
    """The distance to the best observed in points, with its simultaneous limits."""
    if standing is None or not math.isfinite(standing.to_best.value):
        return Field("–", ""), ""
    if is_best:
        return Field("best", "0"), ""
    return _difference(standing.to_best), limits(standing.to_best, scale=100, digits=1)


def _difference(interval: Interval | None) -> Field:
    if interval is None or not math.isfinite(interval.value):
        return Field("–", "")
    return Field(points(interval.value, sign=True).split()[0], f"{interval.value:.6f}")


def _note(standing: Standing | None, verdict: Verdict | None) -> str:
    if standing is None or verdict is None or standing is verdict.standings[0]:
        return ""
    if standing.same_as is not None:
        return f"same results as {standing.same_as}"
    return "non-inferior" if standing.non_inferior else ""


def _field(metric: str, value: float) -> Field:
    if not math.isfinite(value):
        return Field("–", "")
    if metric.startswith(("context_tokens", "chunks")):
        text = f"{value:,.0f}"
    elif metric.startswith("unseen"):
        text = f"{value:.1%}"
    elif metric.startswith(("query_ms", "index_mb")):
        text = f"{value:,.1f}"
    else:
        text = f"{value:.3f}"
    return Field(text, f"{value:.6f}")
