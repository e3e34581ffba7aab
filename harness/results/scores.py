"""The scores of a finished sweep as the numbers that a verdict is made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from harness.cli.hydra_errors import closest
from harness.errors import SettingError, StoreError
from harness.records import Kind
from harness.results.cells import by_cost
from harness.results.finished import FinishedCell, FinishedSweep
from harness.verdict import Outcomes


class Compared(NamedTuple):
    """The numbers, the question ids in their order, and the metric of each cell (its k may differ)."""

    outcomes: Outcomes
    question_ids: tuple[str, ...]
    metrics: Mapping[str, str]


def compared(
    sweep: FinishedSweep,
    metric: str,
    cells: Sequence[FinishedCell] | None = None,
    own: Mapping[str, str] | None = None,
) -> Compared:
    """The metric of every question in ``cells`` (default: all of the sweep's).

    ``own``: cell name to the metric that stands in the place of ``metric``, where each cell has a k of its
    own. Questions without the metric (another kind) are left out. Raises ``SettingError`` for a metric that
    is missing, or that can't be compared between these cells.
    """
    chosen = list(sweep.cells if cells is None else cells)
    metrics = {cell.name: metric if own is None else own[cell.name] for cell in chosen}
    columns = [_column(cell, metrics[cell.name]) for cell in chosen]
    values = np.stack(columns)
    defined = ~np.isnan(values)
    kept = defined.any(axis=0)
    if not kept.any():
        raise SettingError(f"{metric} has no value for any question of this sweep.", key="metric")
    if not defined[:, kept].all():
        raise SettingError(
            f"{metric} has a value for some questions in one cell and not in another: it can't decide.",
            key="metric",
        )
    _refuse_row_metric(chosen, metric)
    first = chosen[0].questions
    _, clusters = np.unique(first["cluster"][kept].astype(str), return_inverse=True)
    names = tuple(cell.name for cell in chosen)
    ids = tuple(str(question_id) for question_id in first["question_id"][kept])
    by = [by_cost(cell.content, sweep.k) for cell in chosen]
    costs = np.array([sorted(by).index(cost) for cost in by], np.float64)
    return Compared(Outcomes(names, values[:, kept], clusters.astype(np.int64), costs), ids, metrics)


def comparable(cells: Sequence[FinishedCell]) -> tuple[list[FinishedCell], list[dict[str, str]]]:
    """The cells that were scored on the same questions, and the other cells with the reason.

    The largest group of cells is kept, of equal groups the one with more questions. Raises ``StoreError``
    when no two cells share a question.
    """
    by_questions: dict[tuple[str, ...], list[FinishedCell]] = defaultdict(list)
    for cell in cells:
        by_questions[tuple(cell.questions["question_id"])].append(cell)
    if len(by_questions) < 2:
        return list(cells), []
    kept = max(by_questions, key=lambda ids: (len(by_questions[ids]), len(ids)))
    if len(by_questions[kept]) == 1 and not any(set(kept) & set(ids) for ids in by_questions if ids != kept):
        counts = ", ".join(f"{group[0].name} {len(ids)}" for ids, group in by_questions.items())
        raise StoreError(
            f"The cells share no question ({counts}) and can't be compared. Give all cells one golden set."
        )
    others = [
        {
            "name": cell.name,
            "error": f"It was scored on other questions: {len(set(ids) & set(kept))} of its {len(ids)} are "
            f"among the {len(kept)} of the other cells. Cells are compared on the same questions only.",
        }
        for ids, group in by_questions.items()
        if ids != kept
        for cell in group
    ]
    return list(by_questions[kept]), others


def rechunks(cells: Sequence[FinishedCell]) -> bool:
    """True when the cells have different chunks; an external retriever has its own."""
    return len({_cut_by(cell.content) for cell in cells}) > 1


def _cut_by(content: Mapping[str, Any]) -> str:
    """What made the cell's chunks. External retrievers return chunks, and have no number of chunks."""
    config = content["config"]
    return str(config.get("chunker") if "chunks" in content["health"] else config["retriever"])


def scored_under(metric: str, kinds: Collection[Kind]) -> tuple[Kind, str]:
    """The kind of question of a flat name, and the metric's own name; ``document_`` marks one kind of two."""
    if metric.startswith("document_"):
        return "document", metric.removeprefix("document_")
    return ("span" if "span" in kinds else "document"), metric


def _column(cell: FinishedCell, metric: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    kinds = cell.questions["kind"].astype(str)
    kind, name = scored_under(metric, cast(set[Kind], set(kinds)))
    if name not in cell.questions:
        refuse_unmeasured(cell, metric)
    return np.where(kinds == kind, cell.questions[name].astype(np.float64), np.nan)


def refuse_unmeasured(cell: FinishedCell, metric: str) -> None:
    """Raises ``SettingError`` for a metric that ``cell`` does not have."""
    known = list(cell.content["metrics"])
    if metric not in known:
        raise SettingError(
            f"{metric} was not measured in {cell.name}.{closest(metric, known)} "
            "Metrics at other k or budgets need a new sweep.",
            key="metric",
        )


def _refuse_row_metric(cells: Sequence[FinishedCell], metric: str) -> None:
    plain = metric.removeprefix("document_")
    independent = cells[0].content["chunk_independent"]
    if plain not in independent and rechunks(cells):
        raise SettingError(
            f"{metric} depends on the chunks, and these cells have different chunks, so it can't decide. "
            f"Metrics that can: {', '.join(name for name in independent if '_at_' in name)[:200]}.",
            key="metric",
        )
