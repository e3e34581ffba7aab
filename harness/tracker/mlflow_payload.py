"""Records as what MLflow's client takes: metrics, params, tags and the golden set as an input."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.tracker import CellRecord, SweepRecord
from harness.tracker.mlflow_address import shown
from harness.tracker.mlflow_names import CURVES, curve_name

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, RunTag

KIND_TAG, FOLDER_TAG = "harness.kind", "harness.folder"
# Set when every cell of a sweep was run, whether or not it succeeded.
CLOSED_TAG = "harness.closed"
# MLflow's own names.
NOTE_TAG, PARENT_TAG = "mlflow.note.content", "mlflow.parentRunId"
FAILED = "**This cell failed.** "
NOTE_CHARS = 7500
TAG_CHARS = 7900
PARAM_CHARS = 6000
COMMAND_CHARS = 5000
DECIMALS = 4
# The param of a sweep that is long and not a setting.
COMMAND = "command"
# Where the UI shows the version of the code, and our own names for the rest.
_PROVENANCE_TAGS = {
    "version": "harness.version",
    "git_commit": "mlflow.source.git.commit",
    "git_dirty": "harness.git_dirty",
}
# A request to a server may hold 1,000 entries in all, 100 of them params and 100 tags.
_METRICS_PER_REQUEST = 800
_PARAMS_PER_REQUEST = 100


def metrics(
    values: Mapping[str, float], curves: Mapping[str, Mapping[int, float]] | None = None
) -> list[Metric]:
    """The values in order, then the curves' points with ``step=k``; rounded, undefined ones left out."""
    from mlflow.entities import Metric

    points = [(name, value, 0) for name, value in values.items()]
    points += [(name, curve[k], k) for name, curve in (curves or {}).items() for k in sorted(curve)]
    now_ms = int(1000 * time.time())
    return [
        Metric(name, round(float(value), DECIMALS), now_ms, step)
        for name, value, step in points
        if math.isfinite(value)
    ]


def params(values: Mapping[str, str]) -> list[Param]:
    """The settings, cut at the 6,000 characters that MLflow keeps."""
    from mlflow.entities import Param

    return [Param(name, str(value)[:PARAM_CHARS]) for name, value in values.items()]


def tags(values: Mapping[str, str], note: str) -> list[RunTag]:
    """The tags and the description, each cut visibly below the size at which MLflow cuts silently."""
    from mlflow.entities import RunTag

    cut = {name: _cut(str(value), TAG_CHARS) for name, value in values.items()}
    if note:
        cut[NOTE_TAG] = _cut(note, NOTE_CHARS)
    return [RunTag(name, value) for name, value in cut.items()]


def log(
    client: MlflowClient,
    run_id: str,
    measured: Sequence[Metric],
    settings: Sequence[Param],
    marks: Sequence[RunTag],
) -> None:
    """Writes everything in one batch, or in as few as the limits of a server allow."""
    for part in _parts(measured, settings, marks):
        client.log_batch(run_id, **part, synchronous=True)


def log_golden(client: MlflowClient, run_id: str, dataset: Mapping[str, str]) -> None:
    """Notes the golden set as the dataset that the run was evaluated on; nothing when ``dataset`` is empty.

    ``dataset`` has ``name``, ``digest`` and ``source``. The digest is cut to 12 characters, as a long one
    fills the widest column.
    """
    if not dataset:
        return
    from mlflow.entities import Dataset, DatasetInput, InputTag

    entity = Dataset(
        name=dataset["name"],
        digest=dataset["digest"].rpartition(":")[2][:12],
        source_type="local",
        source=json.dumps({"uri": dataset.get("source", "")}),
    )
    client.log_inputs(run_id, [DatasetInput(entity, [InputTag("mlflow.data.context", "evaluation")])])


def sweep_params(sweep: SweepRecord) -> dict[str, str]:
    """The settings of the sweep's run: what is swept, and what all cells share; the command is a tag."""
    settings = {
        "cells": str(sweep.cells),
        "primary": sweep.primary,
        "axes": " × ".join(sweep.axes) or "none",
    }
    axes = {f"axis.{name}": ", ".join(values) for name, values in sweep.axes.items()}
    return {**settings, **axes, **{name: text for name, text in sweep.params.items() if name != COMMAND}}


def sweep_tags(sweep: SweepRecord) -> dict[str, str]:
    """The tags of the sweep's run: kind, folder, command (cut), golden set, provenance."""
    marks = {KIND_TAG: "sweep", FOLDER_TAG: str(sweep.folder), **_origin(sweep.dataset, sweep.provenance)}
    if COMMAND in sweep.params:
        # It may hold the address of a store with its password.
        command = re.sub(r"\S+", lambda word: shown(word[0]), sweep.params[COMMAND])
        marks["harness.command"] = command[:COMMAND_CHARS]
    return marks


def cell_tags(cell: CellRecord, dataset: Mapping[str, str], parent: str) -> list[RunTag]:
    """All tags of a cell: its own, its parent, its colour, golden set, provenance and description.

    A failed cell is described by its message, which says what to do; its verdict is "failed" unless it has
    one.
    """
    marks = {KIND_TAG: "cell", **_origin(dataset, cell.provenance), **cell.tags, PARENT_TAG: parent}
    note = cell.note
    if cell.color:
        marks["mlflow.runColor"] = cell.color
    if cell.error is not None:
        marks.setdefault("verdict", "failed")
        note = f"{FAILED}{cell.error}" + (f"\n\n{cell.note}" if cell.note else "")
    return tags(marks, note)


def curves_of(cell: CellRecord) -> dict[str, Mapping[int, float]]:
    """The curves that MLflow gets, by their names there; all others are in the files only."""
    return {curve_name(name): cell.curves[name] for name in CURVES if name in cell.curves}


def _origin(dataset: Mapping[str, str], provenance: Mapping[str, str]) -> dict[str, str]:
    """The golden set's full digest (its column shows the beginning), the program's version, the commit."""
    golden = {"golden_digest": dataset["digest"]} if dataset else {}
    return golden | {tag: provenance[key] for key, tag in _PROVENANCE_TAGS.items() if key in provenance}


def _parts(
    measured: Sequence[Metric], settings: Sequence[Param], marks: Sequence[RunTag]
) -> Iterator[dict[str, Any]]:
    count = max(1, -(-len(measured) // _METRICS_PER_REQUEST), -(-len(settings) // _PARAMS_PER_REQUEST))
    for i in range(count):
        yield {
            "metrics": measured[i * _METRICS_PER_REQUEST : (i + 1) * _METRICS_PER_REQUEST],
            "params": settings[i * _PARAMS_PER_REQUEST : (i + 1) * _PARAMS_PER_REQUEST],
            "tags": marks if i == 0 else (),
        }


def _cut(text: str, limit: int) -> str:
    """The text, ended after a whole line where it is too long."""
    if len(text) <= limit:
        return text
    end = "\n\n… shortened; the full text is in the artifacts."
    head = text[: limit - len(end)]
    return (head[: head.rfind("\n")] if "\n" in head else head) + end
