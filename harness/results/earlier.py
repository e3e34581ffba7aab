"""What earlier sweeps on a golden set tell: how often it was looked at, and how much cells differ on it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.files.atomic import read_json
from harness.files.journal import Journal
from harness.results.load import read_folder
from harness.results.scores import compared
from harness.results.sweeps import SWEEP, outputs
from harness.store.arrays import digest
from harness.verdict.power import FIRST_LOOK, Look, detectable_as_observed, level_after_growth

LOOKS = "looks.jsonl"
_KEY = ("golden", "primary", "cells")
# What makes a cell what it is; documents and questions may grow.
_GROUPS = ("chunker", "model", "index", "retriever", "reranker")


def record_look(
    file: Path, golden_digest: str, question_ids: Sequence[str], contents: Sequence[Mapping[str, Any]]
) -> Look:
    """Notes in ``file`` that the cells in ``contents`` were compared on these questions; gives the look.

    An earlier look has the same primary metric, two of these cells or more, and fewer questions, of which at
    least half are among these. The same cells on the same golden set are no new look. Raises ``StoreError``
    and ``InputError`` for a journal that can't be written or read.
    """
    now = {
        "golden": golden_digest,
        "primary": str(contents[0]["primary"]),
        "cells": sorted(map(_identity, contents)),
        "questions": sorted(question_ids),
    }
    journal = Journal(file)
    with journal.locked():
        lines = [line for line in journal.items() if set(now) <= set(line)]
        place = next((i for i, line in enumerate(lines) if all(line[key] == now[key] for key in _KEY)), None)
        if place is None:
            journal.append(now)
    return _look(now, lines[:place])


def _identity(content: Mapping[str, Any]) -> str:
    return digest(json.dumps([content["config"].get(group) for group in _GROUPS], sort_keys=True))


def _look(now: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> Look:
    cells, questions = set(now["cells"]), set(now["questions"])
    earlier = {
        line["golden"]: len(line["questions"])
        for line in lines
        if line["primary"] == now["primary"]
        and len(cells & set(line["cells"])) > 1
        and len(line["questions"]) < len(questions)
        and 2 * len(questions & set(line["questions"])) >= len(line["questions"])
    }
    if not earlier:
        return FIRST_LOOK
    return Look(1 + len(earlier), level_after_growth(len(questions) / min(earlier.values())))


class MeasuredEffect(NamedTuple):
    """The minimum detectable effect on ``metric``, as measured in the sweep called ``sweep``."""

    effect: float
    metric: str
    sweep: str


def measured_effect(golden_digest: str, metric: str | None = None) -> MeasuredEffect | None:
    """The median minimum detectable effect between the best cell and each other in the newest sweep.

    ``metric``: None for the one that decided that sweep. None without a sweep on this golden set in which
    cells differ. A sweep that can't be read is passed over.
    """
    for file in sorted(outputs().glob(f"*/*/{SWEEP}"), reverse=True):
        try:
            first = next(file.parent.glob("*/result.json"), None)
            if first is None or read_json(first)["golden_digest"] != golden_digest:
                continue
            sweep = read_folder(file.parent)
            decides = metric or sweep.primary
            best, *others = (numbers := compared(sweep, decides).outcomes).values
        except (HarnessError, OSError, ValueError, KeyError):
            continue
        effects = [detectable_as_observed(best - other, numbers.clusters) for other in others]
        if known := [effect for effect in effects if effect]:
            return MeasuredEffect(median(known), decides, sweep.name)
    return None
