"""What the sweep says in a terminal or a pipe: plain lines, one table, names never cut."""

from __future__ import annotations

import io
import logging
import math
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len

from harness.corpus.summary import summary
from harness.parts import Inputs
from harness.tracker import CellRecord
from harness.view import notes

DIM, BOLD, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[0m"
PIPE_WIDTH = 80


class Column(NamedTuple):
    """A column of the table: metric, heading, and whether it may decide between different chunkings."""

    metric: str
    heading: str
    comparable: bool = True


def prepare() -> None:
    """Makes sure that no text can break the program: a terminal that lacks a sign gets its code, warnings get a line each."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("! %(message)s"))
    logger = logging.getLogger("harness")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.WARNING)


def say(text: str) -> None:
    """Prints to standard output at once, so that a pipe shows it while the sweep runs."""
    if text:
        say_all([text])


def say_all(lines: Iterable[str]) -> None:
    """Prints lines, empty ones included. A reader that has gone (``| head``) does not end the sweep."""
    try:
        for line in lines:
            print(line, flush=True)
    except BrokenPipeError:
        # What is still in the buffer must not fail again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Prints a mistake to standard error."""
    print(text, file=sys.stderr, flush=True)


def inputs(measured_on: Sequence[Inputs]) -> list[str]:
    """Documents and questions in a few lines, with everything that was left out."""
    lines = []
    for given in measured_on:
        tokens = sum(len(token_map) for token_map in given.tokens)
        labels = given.labels
        states = ", ".join(f"{n:,} {state}" for state, n in labels.states.items() if n)
        lines += [
            f"documents  {len(given.documents):,} with {tokens:,} tokens",
            *(f"           {line}" for line in summary(given.corpus.notes)),
            f"questions  {len(labels.questions):,}; labels: {states}",
        ]
        if labels.left_out:
            question_id, reason = next(iter(labels.left_out.items()))
            lines.append(
                f"           {len(labels.left_out):,} left out, for instance {question_id}: {reason}"
            )
    return lines


def cell_begins(number: int, total: int, name: str) -> str:
    """Said only on a terminal: a pipe gets the line at the end of the cell."""
    return f"{DIM}[{number}/{total}] {name} ...{PLAIN}" if sys.stdout.isatty() else ""


def cell_ends(number: int, total: int, record: CellRecord, primary: str, seconds: float) -> str:
    """One line for a finished or failed cell."""
    head = f"[{number}/{total}] {record.name}"
    if record.error is not None:
        return f"{head}  FAILED ({seconds:.1f} s), see below"
    return f"{head}  {short(primary)} {record.metrics[primary]:.3f}  ({seconds:.1f} s)"


def short(metric: str) -> str:
    """A metric's name as a heading: ``recall_at_2000_tokens`` is ``recall@2000t``."""
    return re.sub(r"_at_(\d+)$", r"@\1", re.sub(r"_at_(\d+)_tokens$", r"@\1t", metric))


def columns(primary: str, k: int, *, same_chunks: bool) -> list[Column]:
    """The table's columns, the most important first. Row metrics decide only between cells with the same chunks."""
    chosen = [
        Column(primary, short(primary)),
        Column(f"recall_at_{k}", f"recall@{k}"),
        Column("unseen_evidence", "unseen"),
        Column("mrr", "mrr", same_chunks),
        Column(f"context_tokens_at_{k}", f"tokens@{k}"),
        Column(f"ndcg_at_{k}", f"ndcg@{k}", same_chunks),
        Column(f"precision_at_{k}", f"prec@{k}", same_chunks),
    ]
    return list({column.metric: column for column in chosen}.values())


def width() -> int:
    """Columns of the terminal; 80 in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH


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
    r"unseen_evidence": "share of the evidence beyond the model's window: never embedded",
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


def report(
    contents: Sequence[Mapping[str, Any]],
    failures: Sequence[Mapping[str, Any]],
    primary: str,
    k: int,
    verdict: Sequence[str] = (),
    *,
    same_chunks: bool,
) -> list[str]:
    """The end of a sweep: table, legend, the sentences of the verdict, warnings, failures."""
    shown = columns(primary, k, same_chunks=same_chunks)
    lines: list[str] = []
    if contents:
        drawn = table(contents, shown, width())
        lines += [
            "",
            *drawn.lines,
            "",
            *legend(drawn.columns, has_limits=f"{primary}_lo" in contents[0]["metrics"]),
        ]
    if verdict:
        lines += ["", *(line for sentence in verdict for line in wrapped(sentence, ""))]
    of_cells = (about(content["name"], content) for content in contents for about in notes.OF_CELLS)
    warnings = [warning for warning in of_cells if warning]
    warnings += notes.about_questions(contents)
    if contents and primary not in contents[0]["chunk_independent"] and not same_chunks:
        warnings.append(
            f"{primary} depends on how the text was cut: between these cells it decides nothing fairly."
        )
    if warnings:
        lines += ["", *(line for warning in warnings for line in wrapped(warning, "! ", "  "))]
    if failures:
        lines += ["", *_failed(failures)]
    return lines


def _failed(failures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Failed cells; those with the same message share it."""
    names: dict[str, list[str]] = {}
    for failure in failures:
        names.setdefault(failure["error"], []).append(failure["name"])
    lines = [f"{len(failures)} {'cell' if len(failures) == 1 else 'cells'} failed:"]
    for message, cells in names.items():
        lines += ["  " + ", ".join(cells), *wrapped(message, "    ")]
    return lines


def wrapped(text: str, indent: str, hanging: str | None = None) -> list[str]:
    """``text`` broken at blanks to the width of the terminal; words, such as paths to be copied, stay whole."""
    return textwrap.wrap(
        text,
        max(40, width()),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
