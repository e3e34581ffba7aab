"""The file to deploy: one configuration that the sweep's command can run again, with its figures and origins.

``production.yaml`` is a Hydra configuration. Beside it lies ``production.scores.csv`` with the deciding
metric of every question and a digest of its rows. The gate compares with both.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np
import yaml
from omegaconf import DictConfig, OmegaConf

from harness import __version__
from harness.cell.settings import cut_offs
from harness.cli import compose
from harness.cli.command import Words, quote
from harness.decision.baseline import scores_file
from harness.decision.decide import Decision, Selection
from harness.errors import StoreError
from harness.files.atomic import write_json, write_text
from harness.metrics.operating_point import OperatingPoint
from harness.records import UNUSED
from harness.results.cells import SCHEMA, row_digests
from harness.results.finished import FinishedCell
from harness.results.scores import Compared, compared
from harness.verdict.interval import mean_intervals

GROUPS = ("corpus", "golden", "chunker", "model", "index", "retriever", "reranker", "metrics")
# Written out in full: whoever deploys reads them here.
_IN_FULL = ("chunker", "model", "index", "retriever", "reranker")
_PLAIN = (
    *("chunk", "overlap", "context", "k", "context_budget"),
    *("tokenizer", "backend", "precision", "cache_dtype"),
)
_HEAD = """\
# One retrieval configuration, written by `python -m harness.pick`.
# Run it again:      python -m harness --config-dir {} --config-name {}
# After a change:    python -m harness.gate {}
"""


def write_decision(path: Path, decision: Decision) -> Path:
    """Writes the decision as JSON beside the production file ``path``, also where no cell is taken."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path} can't be written ({error.strerror}). Choose another place with output=FILE.", where=path
        ) from error
    file = path.with_suffix(".decision.json")
    write_json(file, decision.to_json())
    return file


def write(path: Path, decision: Decision, selection: Selection) -> list[Path]:
    """Writes the chosen configuration and its scores into a folder that exists; gives their paths."""
    cell = decision.sweep.cell(selection.choice.name)
    metric = decision.points[cell.name].recorded
    numbers = compared(decision.sweep, metric, [cell])
    recorded = _recorded(decision, selection, numbers)
    point = decision.points[cell.name].point
    settings = _settings(cell.content["config"], cell.params, recorded["primary"], point)
    parts = (settings, {"recorded": _rounded(recorded)}, {"provenance": _provenance(decision, cell)})
    head = _HEAD.format(*(shlex.quote(str(part)) for part in (path.absolute().parent, path.stem, path)))
    write_text(path, head + "\n".join(map(_yaml, parts)))
    clusters = (cell.questions[name].astype(str) for name in ("question_id", "cluster"))
    cluster = dict(zip(*clusters, strict=True))
    values = numbers.outcomes.values[0]
    with np.load(cell.folder / "rankings.npz", allow_pickle=False) as arrays:
        rows = row_digests(arrays, point)
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(["question_id", "cluster", recorded["primary"], "rows"])
    for question_id, value in zip(numbers.question_ids, values, strict=True):
        lines.writerow([question_id, cluster[question_id], repr(float(value)), rows[question_id]])
    write_text(scores_file(path), file.getvalue())
    return [path, scores_file(path)]


def _recorded(decision: Decision, selection: Selection, numbers: Compared) -> dict[str, Any]:
    """The figures of the chosen cell at its operating point."""
    cell = decision.sweep.cell(selection.choice.name)
    standing = next(s for s in selection.verdict.standings if s.name == cell.name)
    own = decision.points[cell.name]
    (interval,) = mean_intervals(numbers.outcomes.values, numbers.outcomes.clusters)
    return {
        "primary": own.recorded,
        "operating_point": own.point.settings(),
        "decided_by": own.decides,
        "score": cell.metric(own.recorded),
        "interval_95": [interval.lo, interval.hi],
        "verdict": standing.status,
        "margin": selection.verdict.margin,
        "questions": len(numbers.question_ids),
        "costs": dict(decision.costs[cell.name]),
        "metrics": dict(cell.content["metrics"]),
        "health": dict(cell.content["health"]),
    }


def _provenance(decision: Decision, cell: FinishedCell) -> dict[str, Any]:
    content = cell.content
    return {
        "sweep": decision.sweep.name,
        "sweep_run_id": decision.sweep.run_id,
        "cell": cell.name,
        "picked": datetime.now(UTC).isoformat(timespec="seconds"),
        "run_id": cell.run_id,
        "schema": SCHEMA,
        "model": dict(content["model"]),
        **{key: content[key] for key in ("corpus_digest", "golden_digest", "tokenizer_digest")},
        "python": content["provenance"]["python"],
        "libraries": {"retrieval-harness": __version__, **content["provenance"]["libraries"]},
    }


def _settings(
    config: Mapping[str, Any], params: Mapping[str, str], primary: str, point: OperatingPoint
) -> dict[str, Any]:
    """The options, the plain settings, and every value that is not the default of its option."""
    options = {group: params[group] for group in GROUPS if params.get(group, UNUSED) != UNUSED}
    plain = {key: config[key] for key in _PLAIN if key in config}
    default, without_default = _default(options, plain, config)
    raw = _container(default, resolve=False)
    resolved = _container(default, resolve=True)
    settings: dict[str, Any] = {
        "defaults": [
            "config",
            *({f"override /{group}": option} for group, option in options.items()),
            "_self_",
        ],
        **plain,
        "primary": primary,
        "context_budget": point.context_budget,
    }
    if point.k is not None:
        ks = cut_offs(OmegaConf.create({"k": config["k"]}))
        settings |= {"k": sorted({*ks, point.k}), "primary_k": point.k}
    for group in GROUPS:
        if params.get(group) == UNUSED:
            continue
        differing = without_default[group] | _differing(config[group], resolved[group])
        own = {**raw[group], **differing} if group in _IN_FULL else differing
        own.pop("_target_", None)
        if own:
            settings[group] = own
    return settings


def _default(
    options: Mapping[str, str], plain: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[DictConfig, dict[str, dict[str, Any]]]:
    """The configuration of the options alone; per group the settings without a default, from ``config``."""
    words = [f"{group}={option}" for group, option in options.items()]
    words += [f"{key}={json.dumps(value)}" for key, value in plain.items()]
    words.append(f"cache={quote(config['cache'])}")  # its place is no part of the configuration
    bare = compose.composed(Words((), (), ()), words).config
    without: dict[str, dict[str, Any]] = {}
    for group in GROUPS:
        keys = [key for key, value in _container(bare[group], resolve=False).items() if value == "???"]
        without[group] = {key: config[group][key] for key in keys}
        for key, value in without[group].items():
            OmegaConf.update(bare, f"{group}.{key}", value)
    return bare, without


def _container(config: DictConfig, *, resolve: bool) -> dict[str, Any]:
    return cast(dict[str, Any], OmegaConf.to_container(config, resolve=resolve))


def _differing(given: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key not in default or default[key] != value}


def _yaml(content: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True, width=120))


def _rounded(value: Any) -> Any:
    """Figures with six digits, as values that YAML can write."""
    if isinstance(value, Mapping):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, (float, np.floating)) else value
