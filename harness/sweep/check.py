"""All that can be found out about a sweep before a model is loaded: mistakes, cells, primary metric.

Mistakes are looked for in the order in which they are cheap to find.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from omegaconf import DictConfig

from harness.cell import pipeline
from harness.cell.build import Inputs, Shared
from harness.cell.settings import check_settings, cut_offs, new, uses
from harness.cli import compose
from harness.cli.command import Words, check_flags
from harness.cli.compose import Composed
from harness.cli.hydra_errors import closest
from harness.cli.values import check_plain_settings
from harness.errors import HarnessError, SettingError
from harness.metrics.operating_point import OperatingPoint, nearest_budget
from harness.records import Kind
from harness.sweep.environment import check_writable
from harness.sweep.grid import grid, unfolded
from harness.sweep.naming import cell_name, params

RECHUNKING_KEYS = ("chunk", "chunker", "overlap")


class Sweep(NamedTuple):
    """A sweep that was checked and may start.

    ``axes``: swept setting to its values. ``cells`` stand in the order in which they run. ``primary`` is the
    metric that decides, ``k`` the cut-off of the main columns. ``inputs`` holds each distinct corpus with its
    golden set. ``notes`` say which combinations are not run, and why.
    """

    words: Words
    axes: dict[str, list[str]]
    cells: list[Composed]
    primary: str
    k: int
    inputs: list[Inputs]
    notes: list[str]

    @property
    def folder(self) -> Path:
        """Where the cells' folders go; new, since its name holds the time to the microsecond."""
        first = self.cells[0]
        return (first.sweep_folder if self.words.is_sweep else first.run_folder.parent).resolve()

    @property
    def rechunks(self) -> bool:
        """True when the sweep compares different chunkings."""
        return rechunks(self.axes, self.cells)

    def settings(self) -> list[dict[str, str]]:
        """Each cell's settings as they are shown."""
        return [params(cell.config, cell.choices, cell.overrides, self.axes) for cell in self.cells]

    def names(self) -> list[str]:
        """Each cell's name."""
        return [cell_name(settings, self.axes) for settings in self.settings()]


def checked(words: Words, shared: Shared) -> Sweep:
    """The sweep that the words describe; its inputs are ``shared`` with the cells.

    Raises a ``HarnessError`` for the first mistake that is found.
    """
    check_flags(words)
    if words.files:
        raise SettingError(
            f"'{words.files[0]}' is not of the form key=value. "
            "For example: python -m harness -m model=minilm,bge chunk=256,512"
        )
    compose.axes(words.overrides)  # what is typed must hold before an experiment adds to it
    words = unfolded(words)
    axes = compose.axes(words.overrides)
    if axes and not words.is_sweep:
        key, values = next(iter(axes.items()))
        raise SettingError(
            f"{key} has {len(values)} values ({', '.join(values)}). Add -m to compare them in a sweep.",
            key=key,
        )
    axes, cells, notes = grid(words, axes)
    cells, skipped = _fitting(cells, axes)
    notes += skipped
    first = cells[0].config
    for folder in (cells[0].sweep_folder, Path(str(first.cache))):
        check_writable(folder)
    k = _primary_k(first)
    distinct = {str((c.config.corpus, c.config.golden, c.config.tokenizer)): c.config for c in cells}
    inputs = [shared.inputs(config) for config in distinct.values()]
    _refuse_different_questions(inputs)
    kinds = {question.kind for given in inputs for question in given.labels.questions}
    primary = _primary(first, k, sorted(kinds, reverse=True), rechunked=rechunks(axes, cells))
    return Sweep(words, axes, cells, primary, k, inputs, notes)


def _refuse_different_questions(inputs: Sequence[Inputs]) -> None:
    """Cells are compared on the same questions only: a corpus that loses hard ones would win by it."""
    sets = [frozenset(question.question_id for question in given.labels.questions) for given in inputs]
    if len(set(sets)) > 1:
        raise SettingError(
            "The cells would be scored on different questions "
            f"({' and '.join(str(len(ids)) for ids in sets)} of them). Where a corpus lost "
            "labels, golden.keep_lost=true keeps these questions in, as not found; "
            "another golden set needs a sweep of its own.",
            key="golden",
        )


def rechunks(axes: dict[str, list[str]], cells: Sequence[Composed]) -> bool:
    """True when an axis changes where chunks begin and end, or a retriever returns its own chunks."""
    if any(key in RECHUNKING_KEYS or key.startswith("chunker.") for key in axes):
        return True
    return len(cells) > 1 and not all(uses(cell.config, "chunker") for cell in cells)


def _fitting(cells: Sequence[Composed], axes: Iterable[str]) -> tuple[list[Composed], list[str]]:
    """The cells whose values go together, and why the others are left out.

    A cell is left out when each of its values is right in another cell.

    A setting that every cell gets wrong is refused at once; a value that is wrong wherever it stands fails in
    its cells, later.
    """
    wrong: dict[int, HarnessError] = {}
    for i, cell in enumerate(cells):
        cut_offs(cell.config)
        try:
            check_plain_settings(cell.config)
        except HarnessError as error:
            wrong[i] = error
    wrong |= check_settings({i: cell.config for i, cell in enumerate(cells) if i not in wrong})
    if len(wrong) == len(cells):
        raise wrong[0]
    values = [{(axis, _value(cell, axis)) for axis in axes} for cell in cells]
    right = set().union(*(given for i, given in enumerate(values) if i not in wrong))
    skipped = {i: str(error) for i, error in wrong.items() if values[i] <= right}
    reasons = Counter(skipped.values())
    notes = [
        f"{count} skipped, as the values don't go together: {reason}" for reason, count in reasons.items()
    ]
    return [cell for i, cell in enumerate(cells) if i not in skipped], notes


def _value(cell: Composed, axis: str) -> str | None:
    """What the cell has of a swept setting; None where it has no such setting."""
    return next((word for word in cell.overrides if word.partition("=")[0] == axis), None)


def _primary_k(config: DictConfig) -> int:
    """The k of the main columns: as set, else 5 if it is in k, else the largest."""
    ks = cut_offs(config)
    given = config.primary_k
    if given is None:
        return 5 if 5 in ks else max(ks)
    if given not in ks:
        raise SettingError(
            f"primary_k is {given}; it must be one of k ({', '.join(map(str, ks))}).", key="primary_k"
        )
    return int(given)


def _primary(config: DictConfig, k: int, kinds: Sequence[Kind], *, rechunked: bool) -> str:
    """The metric that decides, fixed before anything is scored.

    At a fixed k the biggest chunk wins by reading more, so a sweep over chunkings is decided at a fixed
    number of tokens. Questions about whole documents can't compare chunkers and are always scored at k.
    """
    metrics = new(config, "metrics")
    names = pipeline.metric_names(metrics, cut_offs(config), kinds)
    points = [OperatingPoint.of(name) for name in names if name.startswith("recall_at_")]
    budgets = [point.context_budget for point in points if point and point.context_budget]
    if config.primary != "auto":
        if config.primary not in names:
            if str(config.primary).endswith(("_tokens", "_over_budgets")) and not budgets:
                raise SettingError(
                    f"primary={config.primary} needs metrics.budgets and questions whose evidence is a span.",
                    key="primary",
                )
            close = closest(str(config.primary), names)
            raise SettingError(f"primary={config.primary}: unknown metric.{close}", key="primary")
        return str(config.primary)
    if budgets and (rechunked or config.context_budget):
        budget = config.context_budget or nearest_budget(budgets)
        return OperatingPoint(context_budget=budget).at("recall_at_1")
    return f"recall_at_{k}"
