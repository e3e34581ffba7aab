"""What the sweep says in a terminal or a pipe: plain lines, one table, names never cut."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from harness.cell.build import Inputs
from harness.cli.say import width, wrapped
from harness.corpus.gather import summary
from harness.tracker import CellRecord
from harness.view import notes
from harness.view.table import DIM, PLAIN, columns, legend, short, table


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
