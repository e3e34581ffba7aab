"""What runs today, as something to compare with: a cell of the sweep, or a production file picked earlier."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.cli.hydra_errors import closest
from harness.decision import production
from harness.errors import SettingError
from harness.records import FloatArray
from harness.results.finished import FinishedSweep
from harness.results.scores import Compared, compared
from harness.verdict import Interval
from harness.verdict.change import difference_interval

_RISK = 0.05


class Baseline(NamedTuple):
    """What runs today: its name, its results on the compared questions (float64 (questions,)) and its costs.

    ``is_cell``: it is a cell of the sweep.
    """

    name: str
    values: FloatArray
    costs: Mapping[str, float]
    is_cell: bool


def baseline(
    word: str,
    sweep: FinishedSweep,
    numbers: Compared,
    metric: str,
    k: Mapping[str, int],
    costs: Mapping[str, Mapping[str, float]],
) -> Baseline:
    """The baseline that ``word`` means: a cell's name, six characters of its run id, or a production file.

    Raises ``SettingError`` for a word that means neither, or a file whose questions or metric are others.
    """
    if Path(word).suffix in {".yaml", ".yml"}:
        return _from_file(Path(word), numbers, metric)
    try:
        cell = sweep.cell(word)
    except KeyError:
        names = [cell.name for cell in sweep.cells]
        raise SettingError(
            f"baseline is '{word}', which is no cell of '{sweep.name}' and no production file.{closest(word, names)} Its cells: {', '.join(names)}.",
            key="baseline",
        ) from None
    own = compared(sweep, metric, [cell], {cell.name: k[cell.name]})
    return Baseline(cell.name, own.outcomes.values[0], costs[cell.name], is_cell=True)


def differences(base: Baseline, numbers: Compared) -> dict[str, Interval]:
    """Each cell minus the baseline, with limits that hold for all of them together (Bonferroni)."""
    outcomes = numbers.outcomes
    others = [name for name in outcomes.names if name != base.name]
    risk = _RISK / max(1, len(others))
    return {
        name: difference_interval(
            outcomes.values[outcomes.names.index(name)] - base.values, outcomes.clusters, risk
        )
        for name in others
    }


def _from_file(path: Path, numbers: Compared, metric: str) -> Baseline:
    found = production.read(path)
    recorded = str(found.recorded["primary"])
    if recorded not in {metric, *numbers.metrics.values()}:
        raise SettingError(
            f"{path} was picked by {recorded}, and {metric} decides here. Say metric={recorded} to compare by that.",
            key="baseline",
        )
    missing = [question_id for question_id in numbers.question_ids if question_id not in found.scores]
    if missing:
        raise SettingError(
            f"{path} has no score for {len(missing):,} of the {len(numbers.question_ids):,} questions (for instance {missing[0]}): it was picked on "
            "another golden set. Add its configuration to the sweep instead.",
            key="baseline",
        )
    values = np.array([found.scores[question_id] for question_id in numbers.question_ids])
    costs = {key: float(value) for key, value in found.recorded["costs"].items()}
    return Baseline(path.name, values, costs, is_cell=False)
