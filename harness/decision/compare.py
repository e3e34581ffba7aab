"""Two cells, question by question: what is needed for ``compare``, computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from harness.decision.baseline import baseline as baseline_meant
from harness.decision.baseline import differences
from harness.errors import SettingError
from harness.records import FloatArray, IntArray
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.load import comparable
from harness.results.scores import compared
from harness.verdict import Interval, Verdict, wording
from harness.verdict.judge import judge
from harness.verdict.wording import by_group, thirds

# Differences below it are what is left of adding up in another order.
_SAME = 1e-9


@dataclass(frozen=True)
class Changed:
    """A question that the two cells answered differently. ``ranks``: of the first relevant row in each, nan where there is none."""

    question_id: str
    values: tuple[float, float]
    ranks: tuple[float, float]
    causes: tuple[str, str]
    text: str
    evidence: Sequence[Mapping[str, object]]


@dataclass(frozen=True)
class Comparison:
    """Two cells on the questions that both were asked.

    ``cells``: the first and the second. ``metric``: what decides; ``post_hoc``: it is not the one that was to decide. ``won``: questions
    on which the first is ahead; ``lost``, ``tied`` likewise. ``settings``: those that differ, with both values. ``for_first``, ``for_second``: the
    questions that changed most in favour of each. ``caveats``: sentences. ``by_overlap``, ``by_source``: the difference, first minus second, in
    groups of questions. ``to_baseline``: cell to its difference to what runs today, named ``baseline``.
    """

    cells: tuple[FinishedCell, FinishedCell]
    sweeps: tuple[FinishedSweep, FinishedSweep]
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
    by_overlap: wording.Comparison
    by_source: wording.Comparison
    baseline: str | None = None
    to_baseline: Mapping[str, Interval] = field(default_factory=dict)


def compare(
    first: tuple[FinishedSweep, FinishedCell],
    second: tuple[FinishedSweep, FinishedCell],
    metric: str | None,
    worst: int,
    baseline: str | None = None,
) -> Comparison:
    """Compares two cells by ``metric`` (None: the one that was to decide).

    ``worst``: how many changed questions are given for each side. ``baseline``: what runs today, a cell of the first sweep or a production
    file. Raises ``SettingError`` for cells that can't be compared: one and the same, two k of one index, other questions, budgets in other
    tokens.
    """
    sweeps, cells = (first[0], second[0]), _told_apart(first[1], second[1])
    _refuse(*cells)
    decides = _metric(sweeps, metric)
    numbers = compared(replace(first[0], cells=cells), decides)
    values = numbers.outcomes.values
    ahead = values[0] - values[1]
    changed = _Changes(cells, numbers.question_ids, values, first[0])
    rows = changed.rows
    groups = (thirds(cells[0].questions["overlap"][rows]), cells[0].questions["source"][rows])
    by_overlap, by_source = (by_group(ahead, numbers.outcomes.clusters, group) for group in groups)
    base = None
    if baseline is not None:
        ks = {cell.name: sweep.k for sweep in sweeps for cell in sweep.cells}
        base = baseline_meant(baseline, first[0], numbers, decides, ks, {name: {} for name in ks})
    won, lost = int((ahead > _SAME).sum()), int((ahead < -_SAME).sum())
    for_first = np.lexsort((-changed.climbed, -ahead))[: min(worst, won)]
    for_second = np.lexsort((changed.climbed, ahead))[: min(worst, lost)]
    return Comparison(
        cells=cells,
        sweeps=sweeps,
        metric=decides,
        post_hoc=any(sweep.primary != decides for sweep in sweeps),
        verdict=judge(numbers.outcomes),
        won=won,
        lost=lost,
        tied=len(ahead) - won - lost,
        settings=_different(*cells),
        for_first=[changed.at(i) for i in for_first],
        for_second=[changed.at(i) for i in for_second],
        caveats=_caveats(cells, sweeps),
        by_overlap=by_overlap,
        by_source=by_source,
        baseline=None if base is None else base.name,
        to_baseline={} if base is None else differences(base, numbers),
    )


@dataclass(frozen=True)
class _Changes:
    """Makes ``Changed`` of a position among the compared questions."""

    cells: tuple[FinishedCell, FinishedCell]
    question_ids: Sequence[str]
    values: FloatArray
    sweep: FinishedSweep

    @cached_property
    def rows(self) -> IntArray:
        """The row of each compared question in both cells' tables."""
        return np.searchsorted(self.cells[0].questions["question_id"], list(self.question_ids)).astype(
            np.int64
        )

    @cached_property
    def climbed(self) -> FloatArray:
        """How much further up the first relevant row stands in the first cell, as the logarithm of the ratio: settles equal differences."""
        ranks = [cell.questions["first_rank"][self.rows].astype(np.float64) for cell in self.cells]
        deepest = np.nanmax([1.0, *np.concatenate(ranks)])
        first, second = (np.log(np.nan_to_num(rank, nan=2 * deepest)) for rank in ranks)
        return second - first

    def at(self, position: int) -> Changed:
        """Everything about one of the compared questions."""
        question_id = self.question_ids[position]
        first, second = (cell.questions for cell in self.cells)
        row = int(self.rows[position])
        return Changed(
            question_id=question_id,
            values=(float(self.values[0, position]), float(self.values[1, position])),
            ranks=(float(first["first_rank"][row]), float(second["first_rank"][row])),
            causes=(str(first["cause"][row]), str(second["cause"][row])),
            text=str(first["question"][row]) if "question" in first else "",
            evidence=[self._told(place) for place in self.sweep.evidence.get(question_id, ())],
        )

    def _told(self, place: Mapping[str, object]) -> Mapping[str, object]:
        """The place; a whole document is told by how it begins."""
        pieces = self.sweep.texts.get(str(place["doc_id"]))
        if "start" in place or not pieces or pieces[0][0] > 0:
            return place
        return {**place, "quote": pieces[0][1]}


def _told_apart(first: FinishedCell, second: FinishedCell) -> tuple[FinishedCell, FinishedCell]:
    """Both, with a part of the run's id where their names are the same."""
    if first.name != second.name:
        return first, second
    if first.folder == second.folder:
        raise SettingError(f"Both are the cell '{first.name}'; give two different ones.")
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
            f"'{first.name}' and '{second.name}' differ only in k ({' and '.join(different['k'])}): both read one ranking, in which the larger k "
            "can't lose, so nothing is tested. What more rows bring is the curve of recall over k.",
            key="k",
        )
    if first.content["tokenizer_digest"] != second.content["tokenizer_digest"]:
        raise SettingError(
            f"'{first.name}' and '{second.name}' count tokens with different tokenizers ({first.params['tokenizer']}, "
            f"{second.params['tokenizer']}): the same budget is not the same text. Run both with one.",
            key="tokenizer",
        )
    _, others = comparable([first, second])
    if others:
        raise SettingError(
            f"'{first.name}' and '{second.name}' can't be compared. {others[0]['name']}: {others[0]['error']}"
        )


def _metric(sweeps: tuple[FinishedSweep, FinishedSweep], metric: str | None) -> str:
    if metric is not None:
        return metric
    one, other = (sweep.primary for sweep in sweeps)
    if one != other:
        raise SettingError(
            f"One of the sweeps was to be decided by {one}, the other by {other}. Say by which: metric={one}",
            key="metric",
        )
    return one


def _different(first: FinishedCell, second: FinishedCell) -> dict[str, tuple[str, str]]:
    keys = dict.fromkeys([*first.params, *second.params])
    pairs = {key: (first.params.get(key, "-"), second.params.get(key, "-")) for key in keys}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def _caveats(
    cells: tuple[FinishedCell, FinishedCell], sweeps: tuple[FinishedSweep, FinishedSweep]
) -> list[str]:
    first, second = (cell.content for cell in cells)
    lines = []
    if first["corpus_digest"] != second["corpus_digest"]:
        lines.append("The documents were not the same: the difference is also theirs.")
    elif first["golden_digest"] != second["golden_digest"]:
        lines.append(
            "The questions have the same ids, but the golden sets are not the same: the difference is also theirs."
        )
    most = max(len(sweep.cells) for sweep in sweeps)
    if most > 2:
        lines.append(
            f"This speaks of these two alone. Whoever takes the best out of {most} cells by such pairs finds winners among equals: "
            "python -m harness.pick corrects for that."
        )
    return lines
