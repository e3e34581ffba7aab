"""The cells of a sweep as Markdown, best first: a file, and the description of the sweep's run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.view.formats import MetricColumn, cell_text, columns, counted, figure, legend


def leaderboard(
    cells: Sequence[Mapping[str, Any]],
    failures: Sequence[Mapping[str, Any]],
    primary: str,
    k: int,
    verdict: Sequence[str] = (),
    *,
    same_chunks: bool,
) -> str:
    """The whole leaderboard; its first paragraph is the answer.

    ``cells``: finished ones as their ``result.json``, best first; ``failures``: ``name`` and ``error``.
    ``k`` is the cut-off of the columns. ``verdict``: its sentences, which stand first;
    without it the highest observed score is named. Without ``same_chunks``,
    metrics that depend on the chunking get an asterisk. An interval (``_lo``, ``_hi``) of the primary
    metric is shown where there is one.
    """
    values = [dict(cell.get("health", {})) | dict(cell["metrics"]) for cell in cells]
    shown = [
        c for c in columns(primary, k, same_chunks=same_chunks) if any(c.metric in row for row in values)
    ]
    names = [str(cell["name"]) for cell in cells]
    parts = [_first_line(names, values, primary, len(failures))]
    if verdict:
        parts = [f"**{cell_text(verdict[0])}**", " ".join(map(cell_text, verdict[1:]))]
    if cells:
        explained = legend(shown, cells[0].get("questions", {}))
        said = [f"- {title}: {text}".replace("*", "\\*") for title, text in explained.items()]
        parts += [_table(names, values, shown, primary), "\n".join(said)]
    if failures:
        failed = (
            f"- **{cell_text(failure['name'])}**: {cell_text(failure['error'])}" for failure in failures
        )
        parts += ["## Failed", "\n".join(failed)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _first_line(
    names: Sequence[str], values: Sequence[Mapping[str, float]], primary: str, failed: int
) -> str:
    """Which cell stands first and by what; says "observed", as nothing here tests whether one is better."""
    if not names:
        return f"**No cell finished**; {failed} failed."
    text = f"**{cell_text(names[0])}** has the highest observed {primary}: {_interval(values[0], primary)}."
    return text + (f" {failed} of {counted(len(names) + failed, 'cell')} failed." if failed else "")


def _table(
    names: Sequence[str], values: Sequence[Mapping[str, float]], shown: Sequence[MetricColumn], primary: str
) -> str:
    lines = [
        "| cell | " + " | ".join(map(_head, shown)) + " |",
        "|---|" + "---:|" * len(shown),
    ]
    for name, row in zip(names, values, strict=False):
        texts = [_interval(row, c.metric) if c.metric == primary else _text(row, c.metric) for c in shown]
        lines.append(f"| {cell_text(name)} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def _interval(row: Mapping[str, float], metric: str) -> str:
    if f"{metric}_lo" not in row or f"{metric}_hi" not in row:
        return _text(row, metric)
    return f"{_text(row, metric)} ({_text(row, f'{metric}_lo')}–{_text(row, f'{metric}_hi')})"


def _text(row: Mapping[str, float], metric: str) -> str:
    return figure(metric, row.get(metric, math.nan))


def _head(column: MetricColumn) -> str:
    return column.title.replace("*", "\\*")
