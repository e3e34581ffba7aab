"""Two cells, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from harness.errors import SettingError
from harness.records import FloatArray, IntArray
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.scores import comparable, compared
from harness.verdict import Verdict
from harness.verdict.judge import judge
from harness.verdict.simultaneous import GroupComparison, by_group, thirds

Cells: TypeAlias = tuple[FinishedCell, FinishedCell]
Sweeps: TypeAlias = tuple[FinishedSweep, FinishedSweep]
# Smaller differences come from adding up in another order.
_SAME = 1e-9


@dataclass(frozen=True)
class Changed:
    """A question that the two cells answer differently; ``ranks``: of the first relevant row, or nan."""

    question_id: str
    values: tuple[float, float]
    ranks: tuple[float, float]
    causes: tuple[str, str]
    text: str
    evidence: Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class Comparison:
    """Two cells on the questions that both were scored on.

    - ``metric``: what decides; ``post_hoc``: it is not the metric recorded with the sweep.
    - ``won``, ``lost``, ``tied``: numbers of questions, as seen from the first cell.
    - ``settings``: those that differ, with both values.
    - ``for_first``, ``for_second``: the questions that changed most in favour of each.
    - ``by_overlap``, ``by_source``: the difference, first minus second, in groups of questions.
    """

    cells: Cells
    sweeps: Sweeps
    metric: str
    post_hoc: bool
    verdict: Verdict
    won: int
    lost: int
    tied: int
    settings: Mapping[str, tuple[str, str]]
    for_first: Sequence[Changed]
    for_second: Sequence[Changed]
    caveats: Sequence[str]
    by_overlap: GroupComparison
    by_source: GroupComparison


def compare(
    first: tuple[FinishedSweep, FinishedCell],
    second: tuple[FinishedSweep, FinishedCell],
    metric: str | None,
    worst: int,
) -> Comparison:
    """Compares two cells by ``metric`` (None: the one recorded with the sweep).

    ``worst``: how many changed questions are given for each side. Raises ``SettingError`` for cells that
    can't be compared.
    """
    sweeps, cells = (first[0], second[0]), _distinct(first[1], second[1])
    _refuse(*cells)
    decides = _metric(sweeps, metric)
    numbers = compared(replace(first[0], cells=cells), decides)
    values, clusters = numbers.outcomes.values, numbers.outcomes.clusters
    ahead = values[0] - values[1]
    table = cells[0].questions
    rows = np.searchsorted(table["question_id"], list(numbers.question_ids)).astype(np.int64)
    won, lost = int((ahead > _SAME).sum()), int((ahead < -_SAME).sum())
    return Comparison(
        cells=cells,
        sweeps=sweeps,
        metric=decides,
        post_hoc=any(sweep.primary != decides for sweep in sweeps),
        verdict=judge(numbers.outcomes, level=min(sweep.look.level for sweep in sweeps)),
        won=won,
        lost=lost,
        tied=len(ahead) - won - lost,
        settings=_different(*cells),
        for_first=_most_changed(cells, first[0], rows, values, worst, sign=1),
        for_second=_most_changed(cells, first[0], rows, values, worst, sign=-1),
        caveats=_caveats(cells, sweeps),
        by_overlap=by_group(ahead, clusters, thirds(table["overlap"][rows])),
        by_source=by_group(ahead, clusters, table["source"][rows]),
    )


def _most_changed(
    cells: Cells, sweep: FinishedSweep, rows: IntArray, values: FloatArray, worst: int, sign: int
) -> list[Changed]:
    """The questions that changed most in favour of one cell; equal differences by the first relevant rank."""
    ranks = [cell.questions["first_rank"][rows].astype(np.float64) for cell in cells]
    deepest = np.nanmax([1.0, *np.concatenate(ranks)])
    first, second = (np.log(np.nan_to_num(rank, nan=2 * deepest)) for rank in ranks)
    ahead = sign * (values[0] - values[1])
    order = np.lexsort((sign * (first - second), -ahead))[: min(worst, int((ahead > _SAME).sum()))]
    return [_changed(cells, sweep, int(rows[i]), values[:, i]) for i in order]


def _changed(cells: Cells, sweep: FinishedSweep, row: int, values: FloatArray) -> Changed:
    """All about the question in ``row`` of both cells' tables."""
    first, second = (cell.questions for cell in cells)
    question_id = str(first["question_id"][row])
    return Changed(
        question_id=question_id,
        values=(float(values[0]), float(values[1])),
        ranks=(float(first["first_rank"][row]), float(second["first_rank"][row])),
        causes=(str(first["cause"][row]), str(second["cause"][row])),
        text=str(first["question"][row]) if "question" in first else "",
        evidence=sweep.quoted_evidence(question_id),
    )


def _distinct(first: FinishedCell, second: FinishedCell) -> Cells:
    """Both cells, with a part of the run's id where their names are the same."""
    if first.name != second.name:
        return first, second
    if first.folder == second.folder:
        raise SettingError(f"Both are the cell '{first.name}'; give two different cells.")
    one, other = (
        replace(cell, name=f"{cell.name} ({(cell.run_id or cell.folder.parent.name)[:8]})")
        for cell in (first, second)
    )
    return one, other


def _refuse(first: FinishedCell, second: FinishedCell) -> None:
    different = _different(first, second)
    digests = ("corpus_digest", "golden_digest")
    if set(different) == {"k"} and all(first.content[key] == second.content[key] for key in digests):
        raise SettingError(
            f"'{first.name}' and '{second.name}' differ only in k ({' and '.join(different['k'])}). "
            "Both read one ranking, in which the larger k can't lose: look at recall over k instead.",
            key="k",
        )
    if first.content["tokenizer_digest"] != second.content["tokenizer_digest"]:
        raise SettingError(
            f"'{first.name}' and '{second.name}' count tokens with different tokenizers "
            f"({first.params['tokenizer']}, {second.params['tokenizer']}). Run both with one tokenizer.",
            key="tokenizer",
        )
    _, others = comparable([first, second])
    if others:
        reason = f"{others[0]['name']}: {others[0]['error']}"
        raise SettingError(f"'{first.name}' and '{second.name}' can't be compared. {reason}")


def _metric(sweeps: Sweeps, metric: str | None) -> str:
    one, other = (sweep.primary for sweep in sweeps)
    if metric is None and one != other:
        raise SettingError(
            f"One sweep is decided by {one}, the other by {other}. Choose a metric: metric={one}",
            key="metric",
        )
    return metric or one


def _different(first: FinishedCell, second: FinishedCell) -> dict[str, tuple[str, str]]:
    keys = dict.fromkeys([*first.params, *second.params])
    pairs = {key: (first.params.get(key, "-"), second.params.get(key, "-")) for key in keys}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def _caveats(cells: Cells, sweeps: Sweeps) -> list[str]:
    first, second = (cell.content for cell in cells)
    lines = []
    if first["corpus_digest"] != second["corpus_digest"]:
        lines.append("The two cells searched different documents: the difference may come from them.")
    elif first["golden_digest"] != second["golden_digest"]:
        lines.append("The golden sets differ, with the same question ids: the difference may come from them.")
    most = max(len(sweep.cells) for sweep in sweeps)
    if most > 2:
        lines.append(
            f"This compares two cells alone. Selecting the best of {most} cells by pairs finds winners among "
            "equals: python -m harness.pick corrects for that."
        )
    return lines
