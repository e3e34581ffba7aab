"""The choice scored on held-out questions, and how often these were looked at."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from omegaconf import OmegaConf

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.settings import cut_offs
from harness.decision.decide import Decision, Selection
from harness.errors import InputError
from harness.files.journal import Journal
from harness.results.cells import about_questions
from harness.results.scores import scored_under
from harness.verdict import Interval
from harness.verdict.clusters import cluster_ids
from harness.verdict.interval import mean_intervals

FEWEST = 200


class Confirmation(NamedTuple):
    """The score on held-out questions; ``looks``: how often this file was used so far, this time included."""

    metric: str
    score: Interval
    questions: int
    looks: int


def confirm(decision: Decision, selection: Selection, file: Path) -> Confirmation:
    """Scores the choice on the held-out questions in ``file``, and counts the look in ``FILE.looks.jsonl``.

    Raises ``InputError`` for fewer than 200 questions, or for questions of the sweep.
    """
    cell = decision.sweep.cell(selection.choice.name)
    point, _, metric, _ = decision.points[cell.name]
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
    ks = sorted({*cut_offs(config), *filter(None, [point.k])})
    scores = pipeline.evaluate(made, ks, metric).scores
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
                "metric": decision.points[cell].recorded,
                "score": score,
            }
        )
    return looks
