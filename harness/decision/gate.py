"""A configuration scored again: after a change, and on held-out questions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from omegaconf import DictConfig, OmegaConf, open_dict

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.settings import cut_offs
from harness.cli.values import check_plain_settings
from harness.decision.baseline import Production
from harness.decision.decide import Decision, Selection
from harness.errors import InputError
from harness.files.journal import Journal
from harness.results.cells import SCHEMA, about_questions
from harness.results.scores import scored_under
from harness.verdict import Interval
from harness.verdict.change import Change, change
from harness.verdict.clusters import cluster_ids
from harness.verdict.interval import mean_intervals

FEWEST = 200


class NotComparableError(Exception):
    """What was recorded can't be compared with what would be scored now."""


class Gated(NamedTuple):
    """The change since the scores were recorded, and the questions that lost, worst first.

    ``lost``: evidence groups whose text is changed or gone. ``new``: questions without a recorded score.
    """

    change: Change
    worst: Sequence[tuple[str, float, float]]
    lost: int
    new: int


class Confirmation(NamedTuple):
    """The score on held-out questions; ``looks``: how often this file was used so far, this time included."""

    metric: str
    score: Interval
    questions: int
    looks: int


def gate(recorded: Production, margin: float, min_effect: float) -> Gated:
    """Scores the recorded configuration again; ``NotComparableError`` for scores of something else."""
    config, primary = recorded.composed.config, str(recorded.recorded["primary"])
    if config.primary != primary:
        raise NotComparableError(f"the file records {primary}, and primary={config.primary} was given.")
    check_version(recorded)
    now, lost = _scored(config, primary)
    check_questions(recorded, now)
    ids = list(recorded.scores)
    before = np.array([recorded.scores[question_id] for question_id in ids])
    after = np.array([now[question_id] for question_id in ids])
    clusters = cluster_ids([recorded.clusters[question_id] for question_id in ids])
    found = change(after - before, clusters, margin, min_effect)
    order = np.argsort(after - before, kind="stable")
    worst = [(ids[i], float(before[i]), float(after[i])) for i in order if after[i] < before[i]]
    return Gated(found, worst, lost, len(now) - len(ids))


def check_version(recorded: Production) -> None:
    """Raises ``NotComparableError`` for scores of another version of the metrics."""
    schema = recorded.provenance["schema"]
    if schema != SCHEMA:
        raise NotComparableError(
            f"the scores are of version {schema} of the metrics, this is version {SCHEMA}. Pick again."
        )


def check_questions(recorded: Production, now: Collection[str]) -> None:
    """Raises ``NotComparableError`` unless every recorded question is in the golden set now."""
    missing = [question_id for question_id in recorded.scores if question_id not in now]
    if missing:
        raise NotComparableError(
            f"{len(missing):,} of the {len(recorded.scores):,} recorded questions are missing in "
            f"{recorded.composed.config.golden.path} (for instance {missing[0]}). Give the golden set that "
            "the configuration was picked with."
        )


def _scored(config: DictConfig, primary: str) -> tuple[dict[str, float], int]:
    """Question id to the metric's value now, and how many evidence groups are lost."""
    with open_dict(config):
        if "keep_lost" in config.golden:
            # A deleted page must not take its hard questions out of the comparison.
            config.golden.keep_lost = not config.gate.accept
    check_plain_settings(config)
    made = Shared().components(config)
    result = pipeline.evaluate(made, cut_offs(config), primary)
    kind, name = scored_under(primary, result.scores)
    pairs = zip(result.scores[kind].question_ids, result.scores[kind].values[name].tolist(), strict=True)
    scores = {question_id: value for question_id, value in pairs if not np.isnan(value)}
    return scores, made.inputs.labels.lost_evidence


def confirm(decision: Decision, selection: Selection, file: Path) -> Confirmation:
    """Scores the choice on the held-out questions in ``file``, and counts the look in ``FILE.looks.jsonl``.

    Raises ``InputError`` for fewer than 200 questions, or for questions of the sweep.
    """
    cell = decision.sweep.cell(selection.choice.name)
    metric = selection.compared.metrics[cell.name]
    config = OmegaConf.create(dict(cell.content["config"]))
    OmegaConf.update(config, "golden.path", str(file))
    made = Shared().components(config)
    labels = made.inputs.labels
    if len(labels.questions) < FEWEST:
        raise InputError(
            f"{file} has too few questions that can be scored: {len(labels.questions)} of at least {FEWEST}.",
            path=file,
        )
    seen = set(selection.compared.question_ids)
    if "question" in cell.questions:
        seen |= set(cell.questions["question"].astype(str))
    again = [q for q in labels.questions if q.text in seen or q.question_id in seen]
    if again:
        raise InputError(
            f"{file}: {len(again)} of its questions were part of the sweep (for instance "
            f"{again[0].question_id}). Give questions that the sweep did not use.",
            path=file,
        )
    scores = pipeline.evaluate(made, cut_offs(config), metric).scores
    kind, name = scored_under(metric, scores)
    values = scores[kind].values[name]
    about = about_questions(made.inputs)
    clusters = cluster_ids([about[question_id].cluster for question_id in scores[kind].question_ids])
    (interval,) = mean_intervals(np.asarray(values)[None, :], clusters)
    return Confirmation(metric, interval, len(values), _looks(file, decision, cell.name, interval.value))


def _looks(file: Path, decision: Decision, cell: str, score: float) -> int:
    journal = Journal(file.with_name(f"{file.name}.looks.jsonl"))
    with journal.locked():
        looks = len(journal.items()) + 1
        journal.append(
            {
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
                "sweep": decision.sweep.run_id or decision.sweep.name,
                "cell": cell,
                "metric": decision.metric,
                "score": score,
            }
        )
    return looks
