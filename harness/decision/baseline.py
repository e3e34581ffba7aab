"""What runs today, to compare with: a cell of the sweep, or a production file that was picked earlier."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import yaml
from omegaconf import OmegaConf

from harness.cell.settings import retriever_settings
from harness.cli import compose
from harness.cli.command import Words
from harness.cli.compose import Composed
from harness.decision.operating_points import Operating, operating_points
from harness.errors import InputError, SettingError
from harness.metrics.operating_point import OperatingPoint
from harness.records import UNUSED, FloatArray
from harness.results.alike import alike
from harness.results.cells import SCHEMA
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.load import cells_of
from harness.results.scores import Compared, compared
from harness.verdict import Interval
from harness.verdict.change import difference_interval

_RISK = 0.05


class Baseline(NamedTuple):
    """What runs today: name, scores of the compared questions (float64 (questions,)), and costs.

    ``cell``: the cell of the sweep with the same settings and operating point, or None; ``alike``: it, and
    the cells with the same results.
    """

    name: str
    values: FloatArray
    costs: Mapping[str, float]
    cell: str | None
    alike: Collection[str]


@dataclass(frozen=True)
class Production:
    """A production file as it was read.

    ``composed``: its configuration. ``recorded``: figures. ``provenance``: origins. ``scores``: question id
    to the value of ``recorded["primary"]``. ``clusters``: question id to its cluster. ``rows``: question id
    to the digest of the rows that are returned; empty for a file that was written without them.
    """

    path: Path
    composed: Composed
    recorded: Mapping[str, Any]
    provenance: Mapping[str, Any]
    scores: Mapping[str, float]
    clusters: Mapping[str, str]
    rows: Mapping[str, str]

    @property
    def operating_point(self) -> OperatingPoint:
        """How much of a ranking comes back: what was judged, and is shipped."""
        return OperatingPoint(**self.recorded["operating_point"])


def baseline(
    word: str,
    sweep: FinishedSweep,
    numbers: Compared,
    metric: str,
    points: Mapping[str, Operating] | None = None,
    costs: Mapping[str, Mapping[str, float]] | None = None,
) -> Baseline:
    """The baseline called ``word``: a cell's name, six characters of its run id, or a production file.

    ``points``: the operating point of each cell, by default that of ``metric``. Raises ``SettingError`` for
    an unknown word, and for a production file with other questions or another metric.
    """
    points = points or operating_points(sweep, metric)
    if Path(word).suffix in {".yaml", ".yml"}:
        return _from_file(Path(word), sweep, numbers, metric, points)
    try:
        cell = sweep.cell(word)
    except KeyError:
        raise SettingError(
            f"baseline is '{word}', which is neither a cell of '{sweep.name}' nor a production file."
            f"{cells_of(sweep, word)}",
            key="baseline",
        ) from None
    alone = compared(sweep, metric, [cell], {cell.name: points[cell.name].decides})
    costs_of = {} if costs is None else costs[cell.name]
    return Baseline(cell.name, alone.outcomes.values[0], costs_of, cell.name, alike(sweep.cells, cell.name))


def differences(base: Baseline, numbers: Compared) -> dict[str, Interval]:
    """Each cell that is not alike, minus the baseline; limits hold for all together (Bonferroni)."""
    outcomes = numbers.outcomes
    others = [name for name in outcomes.names if name not in base.alike]
    risk = _RISK / max(1, len(others))
    return {
        name: difference_interval(
            outcomes.values[outcomes.names.index(name)] - base.values, outcomes.clusters, risk
        )
        for name in others
    }


def read_production(path: Path, overrides: Sequence[str] = ()) -> Production:
    """The production file with its scores, ``overrides`` applied to its configuration.

    Raises ``InputError`` for a missing file and for a file of another kind.
    """
    if not path.is_file():
        raise InputError(
            f"{path} does not exist. python -m harness.pick writes a production file.", path=path
        )
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}", path=path) from None
    if not isinstance(content, dict) or not {"defaults", "recorded", "provenance"} <= set(content):
        raise InputError(
            f"{path} is not a production file: it needs defaults, recorded and provenance, as written by "
            "python -m harness.pick.",
            path=path,
        )
    words = Words(("--config-dir", str(path.absolute().parent), "--config-name", path.stem), (), ())
    composed = compose.composed(words, overrides)
    scores, clusters, rows = _scores(scores_file(path))
    return Production(path, composed, content["recorded"], content["provenance"], scores, clusters, rows)


def scores_file(path: Path) -> Path:
    """Where the scores of the production file ``path`` are."""
    return path.with_suffix(".scores.csv")


def _scores(path: Path) -> tuple[dict[str, float], dict[str, str], dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))[1:]
        scores = {line[0]: float(line[2]) for line in lines}
        return scores, {line[0]: line[1] for line in lines}, {line[0]: line[3] for line in lines if line[3:]}
    except FileNotFoundError:
        reason = "does not exist; a new run is compared with the scores in it"
    except (ValueError, IndexError):
        reason = "must have the columns question_id, cluster, value and rows"
    raise InputError(f"{path} {reason}. Write it again with python -m harness.pick.", path=path)


def _from_file(
    path: Path, sweep: FinishedSweep, numbers: Compared, metric: str, points: Mapping[str, Operating]
) -> Baseline:
    found = read_production(path)
    if found.provenance.get("schema") != SCHEMA:
        raise SettingError(
            f"{path} was written by another version of this program, so its scores can't be compared. Sweep "
            "with its configuration and pick again.",
            key="baseline",
        )
    recorded = str(found.recorded["primary"])
    # Each is judged at its own operating point, so only what is measured there must be the same.
    first = OperatingPoint(k=1)
    if first.at(recorded) not in {first.at(one) for one in (metric, *numbers.metrics.values())}:
        raise SettingError(
            f"{path} records {recorded}, and this comparison is decided by {metric}. "
            f"Give metric={recorded} to compare by that.",
            key="baseline",
        )
    missing = [question_id for question_id in numbers.question_ids if question_id not in found.scores]
    if missing:
        raise SettingError(
            f"{path} lacks scores of questions, {len(missing):,} of {len(numbers.question_ids):,} (for "
            f"instance {missing[0]}). Add its configuration to the sweep instead.",
            key="baseline",
        )
    values = np.array([found.scores[question_id] for question_id in numbers.question_ids])
    costs = {key: float(cost) for key, cost in found.recorded["costs"].items()}
    same = [c.name for c in sweep.cells if _is_same(found, c, points[c.name].point)]
    return Baseline(path.name, values, costs, next(iter(same), None), alike(sweep.cells, *same))


def _is_same(production: Production, cell: FinishedCell, point: OperatingPoint) -> bool:
    """Whether the file has the settings of the cell that matter to it, and its operating point."""
    resolved = cast(dict[str, Any], OmegaConf.to_container(production.composed.config, resolve=True))
    theirs, ours = retriever_settings(resolved), retriever_settings(cell.content["config"])
    matter = [key for key in ours if cell.params.get(key) != UNUSED]
    return production.operating_point == point and all(theirs.get(key) == ours[key] for key in matter)
