"""The cells of a sweep as Markdown, best first: in full for a file, and short for the page of the sweep's run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from harness.view.table import Column, columns, legend

# A run's page folds long descriptions and shows five columns without scrolling; a file has room for eight.
NOTE_ROWS, NOTE_COLUMNS = 10, 5
FILE_COLUMNS = 8
# As many of the cells that share the highest score are named.
NAMED = 3
# Below it, one question moves a score by two points or more.
FEW_QUESTIONS = 50


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

    ``cells``: finished ones as their ``result.json``, best first; ``failures``: ``name`` and ``error``. ``k`` is the cut-off
    of the columns. ``verdict``: its sentences, which stand first; without it equal scores are said to be equal, whatever cell stands first; few questions are said to be few. Without ``same_chunks``, metrics that depend on the chunking are marked with an asterisk. An interval
    (``_lo``, ``_hi``) of the primary metric is shown where there is one.
    """
    values = [dict(cell.get("health", {})) | dict(cell["metrics"]) for cell in cells]
    shown = [
        c for c in columns(primary, k, same_chunks=same_chunks) if any(c.metric in row for row in values)
    ]
    names = [str(cell["name"]) for cell in cells]
    first = _first_line(names, values, primary, len(failures)) + _few_questions(cells)
    if verdict:
        first = f"**{_plain(verdict[0])}**"
    said = [" ".join(map(_plain, verdict[1:]))] if verdict[1:] else []
    legends = [f"- {_head(column)}: {_meaning(column)}" for column in shown[: FILE_COLUMNS - 1]]
    if any(not column.comparable for column in shown[: FILE_COLUMNS - 1]):
        legends.append("- \\*: comparable only between cells with the same chunks; never decides here")
    failed = [f"- **{_plain(f['name'])}**: {_plain(f['error'])}" for f in failures]
    board = ["# Leaderboard", first, *said]
    if cells:
        board += [_table(names, values, shown[: FILE_COLUMNS - 1], primary), "\n".join(legends)]
    if failures:
        board += ["## Failed", "\n".join(failed)]
    note = [first, *said]
    if cells:
        note.append(_table(names[:NOTE_ROWS], values, shown[: NOTE_COLUMNS - 1], primary))
    if len(cells) > NOTE_ROWS:
        note.append(f"{len(cells) - NOTE_ROWS} more cells are in the artifact leaderboard.md.")
    if failures:
        note.append(
            "Failed:\n\n" + "\n".join(line if len(line) < 400 else f"{line[:399]}…" for line in failed[:5])
        )
    return "\n\n".join(note) + "\n", "\n\n".join(board) + "\n"


def _first_line(
    names: Sequence[str], values: Sequence[Mapping[str, float]], primary: str, failed: int
) -> str:
    """Which cells stand first and by what; says "highest", as nothing here tests whether one is better."""
    if not names:
        return f"**No cell finished**; {failed} failed."
    best = values[0].get(primary, math.nan)
    tied = [name for name, row in zip(names, values, strict=True) if row.get(primary) == best]
    if len(names) == 1:
        text = f"**{_plain(names[0])}**: {primary} {_interval(values[0], primary)}."
    elif len(tied) > 1:
        some = ", ".join(f"**{_plain(name)}**" for name in tied[:NAMED])
        link = "among them" if len(tied) > NAMED else "namely"
        share = f"{len(tied)} of {len(names)} cells share the highest {primary}"
        text = f"{share}: {_text(primary, values[0])}, {link} {some}."
    else:
        text = f"**{_plain(names[0])}** has the highest {primary}: {_interval(values[0], primary)}."
    return text + (f" {failed} of {len(names) + failed} cells failed." if failed else "")


def _few_questions(cells: Sequence[Mapping[str, Any]]) -> str:
    """How coarse the scores are when there are few questions; empty when there are many, or none is known."""
    count = sum(cells[0].get("questions", {}).values()) if cells else 0
    if not 0 < count < FEW_QUESTIONS:
        return ""
    points = f"{100 / count:.1f}".removesuffix(".0")
    questions = "1 question" if count == 1 else f"{count} questions"
    return f" Only {questions}: one question more or less moves a cell by {points} points."


def _table(
    names: Sequence[str], values: Sequence[Mapping[str, float]], shown: Sequence[Column], primary: str
) -> str:
    lines = [
        "| cell | " + " | ".join(_head(column) for column in shown) + " |",
        "|---|" + "---:|" * len(shown),
    ]
    for name, row in zip(names, values, strict=False):
        texts = [_interval(row, primary) if c.metric == primary else _text(c.metric, row) for c in shown]
        lines.append(f"| {_plain(name)} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def _interval(row: Mapping[str, float], metric: str) -> str:
    text = _text(metric, row)
    if f"{metric}_lo" in row and f"{metric}_hi" in row:
        text += f" ({_text(f'{metric}_lo', row)}–{_text(f'{metric}_hi', row)})"
    return text


def _text(metric: str, row: Mapping[str, float]) -> str:
    if not math.isfinite(row.get(metric, math.nan)):
        return "–"
    if metric.startswith("context_tokens"):
        return f"{row[metric]:,.0f}"
    return f"{row[metric]:.1%}" if metric.startswith("unseen") else f"{row[metric]:.3f}"


def _head(column: Column) -> str:
    return column.heading if column.comparable else f"{column.heading}\\*"


def _meaning(column: Column) -> str:
    """What the terminal's legend says of the column; its name where the legend does not know it."""
    lines = legend([Column(column.metric, column.heading)])
    return lines[0].strip().removeprefix(column.heading).strip() if lines else column.metric


def _plain(text: object) -> str:
    """Text that can't end a table's cell or line."""
    return " ".join(str(text).replace("|", "\\|").split())
