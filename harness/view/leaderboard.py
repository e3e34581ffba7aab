"""The cells of a sweep as Markdown, best first: in full for a file, and short for the run's page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.view.formats import MetricColumn, columns, counted, figure, legend

# A run's page folds long descriptions and shows five columns without scrolling; a file has room for eight.
NOTE_ROWS, NOTE_COLUMNS = 10, 5
FILE_COLUMNS = 8
# A run's page shows so many failures, and so many characters of each.
_FAILURES, _MESSAGE = 5, 400


def leaderboard(
    cells: Sequence[Mapping[str, Any]],
    failures: Sequence[Mapping[str, Any]],
    primary: str,
    k: int,
    verdict: Sequence[str] = (),
    *,
    same_chunks: bool,
) -> tuple[str, str]:
    """The description of the sweep's run (ten cells at most), and the whole leaderboard.

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
    shown = shown[: FILE_COLUMNS - 1]
    names = [str(cell["name"]) for cell in cells]
    first = _first_line(names, values, primary, len(failures))
    if verdict:
        first = f"**{_plain(verdict[0])}**"
    said = [" ".join(map(_plain, verdict[1:]))] if verdict[1:] else []
    failed = [f"- **{_plain(f['name'])}**: {_plain(f['error'])}" for f in failures]
    board, note = ["# Leaderboard", first, *said], [first, *said]
    if cells:
        explained = [f"- {title}: {text}".replace("*", "\\*") for title, text in legend(shown).items()]
        board += [_table(names, values, shown, primary), "\n".join(explained)]
        note.append(_table(names[:NOTE_ROWS], values, shown[: NOTE_COLUMNS - 1], primary))
    if len(cells) > NOTE_ROWS:
        note.append(f"{counted(len(cells) - NOTE_ROWS, 'more cell')} in the artifact leaderboard.md.")
    if failures:
        some = (line if len(line) < _MESSAGE else f"{line[: _MESSAGE - 1]}…" for line in failed[:_FAILURES])
        board += ["## Failed", "\n".join(failed)]
        note.append("Failed:\n\n" + "\n".join(some))
    return "\n\n".join(note) + "\n", "\n\n".join(board) + "\n"


def _first_line(
    names: Sequence[str], values: Sequence[Mapping[str, float]], primary: str, failed: int
) -> str:
    """Which cell stands first and by what; says "observed", as nothing here tests whether one is better."""
    if not names:
        return f"**No cell finished**; {failed} failed."
    text = f"**{_plain(names[0])}** has the highest observed {primary}: {_interval(values[0], primary)}."
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
        lines.append(f"| {_plain(name)} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def _interval(row: Mapping[str, float], metric: str) -> str:
    if f"{metric}_lo" not in row or f"{metric}_hi" not in row:
        return _text(row, metric)
    return f"{_text(row, metric)} ({_text(row, f'{metric}_lo')}–{_text(row, f'{metric}_hi')})"


def _text(row: Mapping[str, float], metric: str) -> str:
    return figure(metric, row.get(metric, math.nan))


def _head(column: MetricColumn) -> str:
    return column.title.replace("*", "\\*")


def _plain(text: object) -> str:
    """Text that can't end a table's cell or line."""
    return " ".join(str(text).replace("|", "\\|").split())
