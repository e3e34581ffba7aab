"""What ``pick`` says: the table of costs, and why this configuration."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path

from harness.decision.decide import Decision
from harness.results.alike import same_results
from harness.verdict import Standing
from harness.view.formats import (
    counted,
    figure,
    in_brackets,
    limits,
    point_limits,
    points,
    short,
)
from harness.view.table import Head, TextTable

# Costs with their headings.
_COSTS = {
    "context_tokens": "tokens",
    "query_ms": "ms p95",
    "index_mb": "index MB",
    "truncated_evidence": "truncated",
}


def headline(decision: Decision) -> str:
    """The sweep, what decides, and the number of questions."""
    sweep = decision.sweep
    found = decision.selection
    count = found.verdict.questions if found else len(sweep.cells[0].questions["question_id"])
    post_hoc = " (post hoc: chosen after seeing the results)" if decision.post_hoc else ""
    return f"{sweep.name}; {decision.metric}{post_hoc} over {counted(count, 'question')} decides"


def table(decision: Decision) -> list[str]:
    """All cells with their costs, best first; an arrow marks the choice.

    Cells that miss a constraint stand last; cells with the same results are one line. Where the line has no
    room, intervals and costs that no sentence cites are left out.
    """
    found = decision.selection
    taken = found.choice.name if found else None
    standings = {s.name: s for s in found.verdict.standings} if found else {}
    # Of cells with the same results, the line is that of the one that is taken.
    twins = same_results(sorted(decision.sweep.cells, key=lambda cell: cell.name != taken))
    outside = [cell.name for cell in decision.sweep.cells if cell.name not in standings]
    heads = [
        Head("", left=True),
        Head("cell", left=True),
        Head(short(decision.metric)),
        Head("95%", optional=True),
    ]
    if decision.baseline:
        heads.append(Head(f"to {decision.baseline.name}", optional=True))
    if decision.latency:
        heads.append(Head("ms p50", optional=True))
    # Costs that the sentences below cite stay, however narrow the line is.
    cited = {*decision.limits, *([found.choice.saved] if found else [])}
    heads.append(Head("verdict", left=True, wraps=True))
    heads += [Head(title, optional=key not in cited) for key, title in _COSTS.items()]
    has_k = any(own.point.k is not None for own in decision.points.values())
    heads += [Head("k")] if has_k else []
    rows = []
    for name in [name for name in (*standings, *outside) if name not in twins]:
        score, interval, verdict = _scores(decision, name, standings.get(name))
        against = [_to_baseline(decision, name)] if decision.baseline else []
        if decision.latency:
            taking = decision.latency.cells.get(name)
            against.append(figure("query_ms", taking.p50) if taking else "?")
        costs = [cost_text(decision, name, key) for key in _COSTS]
        mark = "→" if name == taken else ""
        costs += [str(decision.points[name].point.k)] if has_k else []
        rows.append([mark, name, score, interval, *against, verdict, *costs])
    return TextTable(heads, rows, name=1).lines()


def _scores(decision: Decision, name: str, standing: Standing | None) -> tuple[str, str, str]:
    if standing is None:
        cell = decision.sweep.cell(name)
        over = ", ".join(f"{key} too high" for key in decision.misses.of_cell[name])
        return f"{cell.metric(decision.points[name].decides):.3f}", "", over
    return f"{standing.mean.value:.3f}", limits(standing.mean).replace(" to ", "–"), standing.status


def _to_baseline(decision: Decision, name: str) -> str:
    difference = decision.to_baseline.get(name)
    if difference is None:
        return "today" if decision.baseline and name == decision.baseline.cell else ""
    return points(difference.value, sign=True).split()[0] + in_brackets(point_limits(difference))


def cost_text(decision: Decision, name: str, cost: str) -> str:
    """A cost as it is written; a latency that was only noted by the sweep with ``~``."""
    is_noted = cost == "query_ms" and not (decision.latency and name in decision.latency.cells)
    value = decision.costs[name][cost]
    return "~" * (is_noted and math.isfinite(value)) + figure(cost, value, "?")


def follow_up(files: Sequence[Path]) -> list[str]:
    """What was written (the production file first), and how to use it."""
    words = ["--config-dir", str(files[0].parent), "--config-name", files[0].stem]
    return [
        f"{'Wrote':<10} {' and '.join(map(str, files))}",
        f"{'Run again':<10} python -m harness {shlex.join(words)}",
    ]
