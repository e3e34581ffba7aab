"""The choice on questions that nothing was chosen by: what it scores when nobody has looked yet."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from omegaconf import OmegaConf

from harness.cell import pipeline
from harness.cell.build import Shared
from harness.cell.settings import cut_offs
from harness.decision.decide import Decision
from harness.errors import InputError, SettingError
from harness.files.journal import Journal
from harness.results.clusters import about_questions
from harness.results.scores import scored_under
from harness.verdict import Interval
from harness.verdict.clusters import cluster_ids
from harness.verdict.interval import mean_intervals

FEWEST = 200


class Confirmation(NamedTuple):
    """The choice's score on held-out questions, by which metric; ``looks``: how often this file was looked at, this time included."""

    metric: str
    score: Interval
    questions: int
    looks: int


def confirm(decision: Decision, file: Path) -> Confirmation:
    """Scores the choice on the questions in ``file``, and notes the look beside it (``FILE.looks.jsonl``).

    A set that is looked at again and again becomes one that is chosen by. Raises ``InputError`` for fewer than 200 questions, or for
    questions that the sweep was scored on.
    """
    if decision.choice is None or decision.compared is None:
        raise SettingError("Nothing was chosen, so nothing can be confirmed.", key="confirm.file")
    cell = decision.sweep.cell(decision.choice.name)
    metric = decision.compared.metrics[cell.name]
    config = OmegaConf.create(dict(cell.content["config"]))
    OmegaConf.update(config, "golden.path", str(file))
    made = Shared().components(config)
    labels = made.inputs.labels
    if len(labels.questions) < FEWEST:
        raise InputError(
            f"{file} has {len(labels.questions)} questions that can be scored; at least {FEWEST} are needed to confirm a choice.",
            path=file,
        )
    seen = set(decision.compared.question_ids)
    if "question" in cell.questions:
        seen |= set(cell.questions["question"].astype(str))
    again = [q for q in labels.questions if q.text in seen or q.question_id in seen]
    if again:
        raise InputError(
            f"{file}: {len(again)} of its questions were part of the sweep (for instance {again[0].question_id}); a choice is confirmed on others.",
            path=file,
        )
    scores = pipeline.evaluate(made, cut_offs(config), metric).scores
    kind, name = scored_under(metric, scores)
    values = scores[kind].values[name]
    about = about_questions(made.inputs)
    clusters = cluster_ids([about[question_id].cluster for question_id in scores[kind].question_ids])
    (interval,) = mean_intervals(np.asarray(values)[None, :], clusters)
    return Confirmation(metric, interval, len(values), _looked(file, decision, cell.name, interval.value))


def _looked(file: Path, decision: Decision, cell: str, score: float) -> int:
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
