"""The table of a sweep's cells in plain text, and what its columns mean."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len

DIM, PLAIN = "\x1b[2m", "\x1b[0m"


class Column(NamedTuple):
    """A column of the table: metric, heading, and whether it may decide between different chunkings."""

    metric: str
    heading: str
    comparable: bool = True


def short(metric: str) -> str:
    """A metric's name as a heading: ``recall_at_2000_tokens`` is ``recall@2000t``."""
    return re.sub(r"_at_(\d+)$", r"@\1", re.sub(r"_at_(\d+)_tokens$", r"@\1t", metric))


def columns(primary: str, k: int, *, same_chunks: bool) -> list[Column]:
    """The table's columns, the most important first. Row metrics decide only between cells with the same chunks."""
    chosen = [
        Column(primary, short(primary)),
        Column(f"recall_at_{k}", f"recall@{k}"),
        Column("truncated_evidence", "unseen"),
        Column("mrr", "mrr", same_chunks),
        Column(f"context_tokens_at_{k}", f"tokens@{k}"),
        Column(f"ndcg_at_{k}", f"ndcg@{k}", same_chunks),
        Column(f"precision_at_{k}", f"prec@{k}", same_chunks),
    ]
    return list({column.metric: column for column in chosen}.values())


class Table(NamedTuple):
    """The lines of a table, and which columns it has room for."""

    lines: list[str]
    columns: list[Column]


def table(contents: Sequence[Mapping[str, Any]], shown: Sequence[Column], limit: int) -> Table:
    """The cells, best first, in at most ``limit`` columns: what does not fit is left out from the right, never a name."""
    values = [content["metrics"] | content["health"] for content in contents]
    name_width = max([4, *(cell_len(content["name"]) for content in contents)])
    chosen: list[tuple[Column, list[str]]] = []
    used = name_width
    for column in shown:
        if any(column.metric not in row for row in values):
            continue
        texts = [_text(column.metric, row[column.metric]) + _limits(column.metric, row) for row in values]
        size = max(map(len, [_heading(column), *texts]))
        if chosen and used + 2 + size > limit:
            continue
        used += 2 + size
        chosen.append((column, [_heading(column).rjust(size), *(text.rjust(size) for text in texts)]))
    names = ["cell", *(content["name"] for content in contents)]
    lines = []
    for i, name in enumerate(names):
        padded = name + " " * (name_width - cell_len(name))
        cells = [_styled(texts[i], dim=not column.comparable) for column, texts in chosen]
        lines.append("  ".join([padded, *cells]).rstrip())
    return Table([lines[0], "-" * used, *lines[1:]], [column for column, _ in chosen])


def _heading(column: Column) -> str:
    return column.heading if column.comparable else column.heading + "*"


def _text(metric: str, value: float) -> str:
    if math.isnan(value):
        return "?"
    if metric.startswith("context_tokens"):
        return f"{value:.0f}"
    return f"{value:.1%}" if metric.startswith("unseen") else f"{value:.3f}"


def _limits(metric: str, row: Mapping[str, float]) -> str:
    """`` (.717–.801)`` where the metric has limits."""
    if f"{metric}_lo" not in row:
        return ""
    lo, hi = (f"{row[f'{metric}_{end}']:.3f}".removeprefix("0") for end in ("lo", "hi"))
    return f" ({lo}–{hi})"


def _styled(text: str, *, dim: bool) -> str:
    return f"{DIM}{text}{PLAIN}" if dim and sys.stdout.isatty() else text


_LEGEND = {
    r"recall_at_\d+_tokens": "share of the evidence inside the first {n} tokens handed over",
    r"recall_at_\d+": "share of the evidence's characters inside the first {n} rows",
    r"complete_at_\d+_tokens": "share of questions whose evidence is all inside {n} tokens",
    r"complete_at_\d+": "share of questions whose evidence is all inside the first {n} rows",
    r"truncated_evidence": "share of the evidence beyond the model's window: never embedded",
    r"mrr": "mean of 1 / rank of the first relevant row",
    r"context_tokens_at_\d+": "mean tokens an LLM would be handed with the first {n} rows",
    r"ndcg_at_\d+": "discounted gain of relevant rows among the first {n}; 1 is ideal",
    r"precision_at_\d+": "relevant rows among the first {n}, divided by {n}",
}


def legend(shown: Sequence[Column], *, has_limits: bool = False) -> list[str]:
    """Each column in a line."""
    lines = []
    for column in shown:
        number = re.search(r"\d+", column.metric)
        known = (text for pattern, text in _LEGEND.items() if re.fullmatch(pattern, column.metric))
        meaning = next(known, "see docs/metrics.md").format(n=number[0] if number else "")
        lines.append(f"  {_heading(column):<13} {meaning}")
    if has_limits:
        lines.append("  (.123–.456)   95% limits, for more questions of this kind about these documents")
    if any(not column.comparable for column in shown):
        lines.append("  * comparable only between cells with the same chunks; never decides here")
    return lines
