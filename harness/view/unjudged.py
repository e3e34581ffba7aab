"""What the rows that nobody judged could change: how cells differ in them, and bounds of scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness.records import FloatArray
from harness.results.finished import FinishedCell, FinishedSweep
from harness.verdict import Outcomes
from harness.verdict.clusters import cluster_ids
from harness.verdict.judge import judge


def unjudged(sweep: FinishedSweep) -> Iterator[str]:
    """Sentences for a sweep whose golden set holds judgements of 0; none for any other.

    Without them the share of judged rows says nothing that the metrics do not say. Nor are there sentences
    for a metric without a cut-off.
    """
    column = f"judged_at_{sweep.primary.partition('_at_')[2]}"
    cells = [cell for cell in sweep.cells if column in cell.questions and sweep.primary in cell.questions]
    if len(cells) < 2 or not any(_has_zeros(cell, sweep.k) for cell in cells):
        return
    yield from _differing(cells, sweep.primary, column)
    yield _order(cells[0], cells[1], sweep.primary, column)


def _has_zeros(cell: FinishedCell, k: int) -> bool:
    """Whether something is known of the rows of a question of which none is relevant."""
    names = (f"judged_at_{k}", f"hit_at_{k}")
    if not all(name in cell.questions for name in names):
        return False
    known, hit = (cell.questions[name] for name in names)
    # Where nothing came back the share is 1, too.
    tokens = cell.questions.get(f"context_tokens_at_{k}", np.ones(len(hit)))
    return bool(np.any((known > 0) & (hit == 0) & (tokens > 0)))


def _differing(cells: list[FinishedCell], primary: str, column: str) -> Iterator[str]:
    defined = ~np.isnan(cells[0].questions[primary])
    values = np.stack([cell.questions[column][defined].astype(np.float64) for cell in cells])
    clusters = cluster_ids(cells[0].questions["cluster"][defined].tolist())
    standings = judge(Outcomes(tuple(cell.name for cell in cells), values, clusters)).standings
    most, least = standings[0], standings[-1]
    if least.status == "ruled out":
        yield (
            f"Of the first rows of {most.name}, {most.mean.value:.0%} are judged, and of {least.name} "
            f"{least.mean.value:.0%}: more than chance. What is not judged counts as wrong, so {least.name} "
            "may be underrated. python -m harness.golden.judge judges them."
        )


def _order(best: FinishedCell, second: FinishedCell, primary: str, column: str) -> str:
    (low, high), (low_second, high_second) = (_bounds(cell, primary, column) for cell in (best, second))
    said = (
        f"If all rows that nobody judged were right, {best.name} would have a {primary} of {high:.3f} "
        f"instead of {low:.3f}, and {second.name} {high_second:.3f} instead of {low_second:.3f}"
    )
    if low > high_second:
        return f"{said}. {best.name} stays ahead in any case."
    return f"{said}. The order of the two best depends on rows that nobody judged."


def _bounds(cell: FinishedCell, primary: str, column: str) -> tuple[float, float]:
    """The mean with all unjudged rows wrong, and with all of them right."""
    values: FloatArray = cell.questions[primary]
    known = cell.questions[column]
    defined = ~np.isnan(values)
    best = np.where(known < 1, 1.0, values)
    return float(values[defined].mean()), float(best[defined].mean())
