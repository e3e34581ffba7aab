"""What the sweep says in a terminal or a pipe: plain lines, one table, names never cut."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.cli.say import wrapped
from harness.corpus.gather import summary
from harness.tracker import CellRecord
from harness.view import notes
from harness.view.cell_notes import OF_CELLS
from harness.view.formats import (
    MetricColumn,
    columns,
    counted,
    equal_texts,
    figure,
    in_brackets,
    legend,
    short,
)
from harness.view.table import Head, TextTable

if TYPE_CHECKING:
    from harness.cell.build import Inputs
    from harness.golden import Labels

DIM, PLAIN = "\x1b[2m", "\x1b[0m"
# In the order in which a cell passes through them.
STAGES = ("load", "chunk", "embed", "index", "search", "rerank", "metrics", "write", "track")


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
            *(f"           {line}" for line in judged(labels)),
        ]
        if equal := equal_texts(labels.equal_texts):
            lines.append(f"           {equal}")
        if labels.left_out:
            question_id, reason = next(iter(labels.left_out.items()))
            lines.append(
                f"           {len(labels.left_out):,} left out, for instance {question_id}: {reason}"
            )
    return lines


def judged(labels: Labels) -> list[str]:
    """How many judgements say "not relevant", and an example of documents that are named otherwise."""
    count = labels.not_relevant
    said = [f"{counted(count, 'judgement says', 'judgements say')}: not relevant"] if count else []
    return said + other_names(labels.other_names)


def other_names(pairs: Mapping[str, str], what: str = "other names for documents") -> list[str]:
    """The first of the ids that labels have for documents, with the document's own, and how many more."""
    more = f" and {len(pairs) - 1:,} more" if len(pairs) > 1 else ""
    return [f"{what}: {given} is {own}{more}" for given, own in list(pairs.items())[:1]]


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
    twins: Collection[str] = (),
) -> list[str]:
    """The end of a sweep: table, legend, the sentences of the verdict, warnings, failures.

    ``twins``: cells that have no line in the table, because another with the same results has one.
    """
    lines: list[str] = []
    if contents:
        listed = [content for content in contents if content["name"] not in twins]
        table, shown = sweep_table(listed, columns(primary, k, same_chunks=same_chunks))
        has_limits = f"{primary}_lo" in contents[0]["metrics"]
        explained = legend(shown, contents[0]["questions"], has_limits=has_limits)
        width = max(13, *map(len, explained))
        lines += ["", *table, "", *(f"  {title:<{width}} {text}" for title, text in explained.items())]
    if verdict:
        lines += ["", *(line for sentence in verdict for line in wrapped(sentence, ""))]
    of_cells = (about(content["name"], content) for content in contents for about in OF_CELLS)
    warnings = [warning for warning in of_cells if warning] + notes.about_questions(contents)
    if contents and primary not in contents[0]["chunk_independent"] and not same_chunks:
        warnings.append(f"{primary} depends on the chunks: it can't compare these cells fairly.")
    if warnings:
        lines += ["", *(line for warning in warnings for line in wrapped(warning, "! ", "  "))]
    if failures:
        lines += ["", *_failed(failures)]
    return lines


def sweep_table(
    contents: Sequence[Mapping[str, Any]], shown: Sequence[MetricColumn]
) -> tuple[list[str], list[MetricColumn]]:
    """The cells, best first, and the shown columns: costs and the deciding metric always."""
    values = [content["metrics"] | content["health"] for content in contents]
    known = [column for column in shown if all(column.metric in row for row in values)]
    heads = [Head("cell", left=True)]
    for i, column in enumerate(known):
        is_cost = column.metric.startswith(("context_tokens", "truncated"))
        heads.append(Head(column.title, optional=i > 0 and not is_cost, dim=not column.comparable))
    rows = [
        [content["name"], *(_with_limits(column.metric, row) for column in known)]
        for content, row in zip(contents, values, strict=True)
    ]
    table = TextTable(heads, rows)
    return table.lines(), [known[i - 1] for i in table.shown if i]


def profile(contents: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where the time went: each cell's seconds, stage by stage, and their sums."""
    spent = [stage_seconds(content) for content in contents]
    stages = [stage for stage in STAGES if sum(seconds[stage] for seconds in spent) >= 0.005]
    if not stages:
        return []
    total = {stage: sum(seconds[stage] for seconds in spent) for stage in STAGES}
    names = [*(str(content["name"]) for content in contents), "all"]
    rows = [
        [name, *(f"{seconds[stage]:.2f}" for stage in stages), f"{sum(seconds.values()):.2f}"]
        for name, seconds in zip(names, [*spent, total], strict=True)
    ]
    return ["", *TextTable([Head("seconds", left=True), *map(Head, (*stages, "all"))], rows).lines()]


def stage_seconds(content: Mapping[str, Any]) -> dict[str, float]:
    """The seconds that a cell spent in each stage."""
    return {stage: float(content["timing"].get(f"{stage}_seconds", 0.0)) for stage in STAGES}


def seconds_spent(contents: Sequence[Mapping[str, Any]]) -> str:
    """The seconds of all cells together, and of the stages that took a tenth of a second at least."""
    spent = [stage_seconds(content) for content in contents]
    total = {stage: sum(seconds[stage] for seconds in spent) for stage in STAGES}
    longest = sorted((stage for stage in STAGES if total[stage] >= 0.1), key=lambda stage: -total[stage])
    stages = ", ".join(f"{stage} {total[stage]:,.1f}" for stage in longest)
    return f"{sum(total.values()):,.1f} seconds" + in_brackets(stages)


def _with_limits(metric: str, row: Mapping[str, float]) -> str:
    """The value, with its limits ``(.717–.801)`` where there are any."""
    text = figure(metric, row[metric], "?").replace(",", "")
    if f"{metric}_lo" not in row:
        return text
    lo, hi = (f"{row[f'{metric}_{end}']:.3f}".removeprefix("0") for end in ("lo", "hi"))
    return f"{text} ({lo}–{hi})"


def _failed(failures: Sequence[Mapping[str, Any]]) -> list[str]:
    """Failed cells; those with the same message share it."""
    names: dict[str, list[str]] = {}
    for failure in failures:
        names.setdefault(failure["error"], []).append(failure["name"])
    lines = [f"{counted(len(failures), 'cell')} failed:"]
    for message, cells in names.items():
        lines += ["  " + ", ".join(cells), *wrapped(message, "    ")]
    return lines
