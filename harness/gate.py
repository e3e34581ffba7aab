"""``python -m harness.gate production.yaml``: whether retrieval has become worse since this configuration was picked.

A check for a CI job. Exit codes: 0 shown to be no worse, 1 a regression (or a mistake in the command), 2 not comparable, 3 undecided.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from omegaconf import DictConfig, OmegaConf, open_dict

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.settings import cut_offs
from harness.cli.run import run_command
from harness.cli.say import say_all, wrapped
from harness.cli.values import plain_settings_hold
from harness.cli.words import Words
from harness.decision import production
from harness.decision.production import Production
from harness.errors import SettingError, StoreError
from harness.records import IntArray
from harness.results.cells import SCHEMA
from harness.results.scores import scored_under
from harness.verdict.change import Change, Outcome, change
from harness.verdict.clusters import cluster_ids
from harness.view import recorded as words

EXIT: Mapping[Outcome, int] = {"no worse": 0, "regression": 1, "undecided": 3}
NOT_COMPARABLE = 2


class Gated(NamedTuple):
    """The comparison, and the questions that got worse most, worst first.

    ``lost``: evidence units whose text is changed or gone; ``new``: questions that were asked now and not then.
    """

    change: Change
    worst: Sequence[tuple[str, float, float]]
    lost: int
    new: int


class _NotComparableError(Exception):
    """What was recorded and what would be scored now are two different things."""


def main(argv: Sequence[str] | None = None) -> int:
    """Scores, compares, says what follows; gives the exit code."""
    return run_command("gate", __doc__, argv, _main)


def _main(words: Words) -> int:
    if len(words.files) != 1 or words.is_sweep:
        raise SettingError(
            "One production file is expected: python -m harness.gate production.yaml [gate.margin=0.03] [corpus.path=DIR]"
        )
    return _run(Path(words.files[0]), words)


def _run(path: Path, given: Words) -> int:
    recorded = production.read(path, ["+command=gate", *given.overrides])
    config = recorded.composed.config
    margin, min_effect = _share(config, "margin"), _share(config, "min_effect")
    if config.gate.undecided not in {"pass", "fail"}:
        raise SettingError(
            f"gate.undecided is {config.gate.undecided}; it must be pass or fail.", key="gate.undecided"
        )
    try:
        gated = _gated(recorded, margin, min_effect)
    except _NotComparableError as error:
        say_all(wrapped(f"Not comparable: {error}", "", ""))
        _write(config, words.gate_not_comparable(path, str(error)))
        return NOT_COMPARABLE
    said = words.gate_sentences(gated.change, recorded.recorded, margin, gated.lost, gated.new)
    say_all([line for sentence in said for line in wrapped(sentence, "", "")])
    say_all(words.gate_table(gated.worst))
    _write(config, words.gate_markdown(path, said, gated.worst))
    if gated.change.outcome == "undecided" and config.gate.undecided == "pass":
        return 0
    return EXIT[gated.change.outcome]


def _gated(recorded: Production, margin: float, min_effect: float) -> Gated:
    config, primary = recorded.composed.config, str(recorded.recorded["primary"])
    if config.primary != primary:
        raise _NotComparableError(f"{primary} was recorded, and primary={config.primary} is asked for.")
    if recorded.provenance["schema"] != SCHEMA:
        raise _NotComparableError(
            f"the scores were recorded by version {recorded.provenance['schema']} of the metrics, this is version {SCHEMA}. Pick again."
        )
    now, lost = _scored(config, primary)
    missing = [question_id for question_id in recorded.scores if question_id not in now]
    if missing:
        raise _NotComparableError(
            f"{len(missing):,} of the {len(recorded.scores):,} recorded questions are not asked here (for instance {missing[0]}). The gate "
            f"needs the golden set that the configuration was picked with; this is {config.golden.path}."
        )
    ids = list(recorded.scores)
    before = np.array([recorded.scores[question_id] for question_id in ids])
    after = np.array([now[question_id] for question_id in ids])
    found = change(after - before, _clusters(recorded, ids), margin, min_effect)
    order = np.argsort(after - before, kind="stable")[: words.SHOWN]
    worst = [(ids[i], float(before[i]), float(after[i])) for i in order if after[i] < before[i]]
    return Gated(found, worst, lost, len(now) - len(ids))


def _scored(config: DictConfig, primary: str) -> tuple[dict[str, float], int]:
    """Question id to the metric's value now, and how many evidence units are lost."""
    with open_dict(config):
        if "keep_lost" in config.golden:
            # A page that is gone must not take its hard questions out of the comparison.
            config.golden.keep_lost = not config.gate.accept
    plain_settings_hold(config)
    made = Shared().components(config)
    result = pipeline.evaluate(made, cut_offs(config), primary)
    kind, name = scored_under(primary, result.scores)
    scores = result.scores[kind]
    values = scores.values[name]
    kept = ~np.isnan(values)
    ids = [question_id for question_id, keep in zip(scores.question_ids, kept, strict=True) if keep]
    return dict(zip(ids, values[kept].tolist(), strict=True)), made.inputs.labels.lost_evidence


def _clusters(recorded: Production, ids: Sequence[str]) -> IntArray:
    return cluster_ids([recorded.clusters[question_id] for question_id in ids])


def _share(config: DictConfig, key: str) -> float:
    value = OmegaConf.select(config, f"gate.{key}")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise SettingError(
            f"gate.{key} is {value}; it is a share from 0 to 1, such as 0.03.", key=f"gate.{key}"
        )
    return float(value)


def _write(config: DictConfig, text: str) -> None:
    if config.output is None:
        return
    try:
        Path(str(config.output)).write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"{config.output} can't be written: {error.strerror}.", where=str(config.output)
        ) from error


if __name__ == "__main__":
    sys.exit(main())
