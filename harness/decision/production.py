"""The file to deploy: one configuration that the sweep's command can run again, with its figures and where they come from.

``production.yaml`` is a Hydra configuration; beside it lies ``production.scores.csv``, the deciding metric of every question, against which the gate
compares.
"""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import yaml
from omegaconf import DictConfig, OmegaConf

from harness import __version__
from harness.cli import compose
from harness.cli.compose import Composed
from harness.cli.words import Words, quote
from harness.errors import InputError, StoreError
from harness.records import UNUSED, FloatArray
from harness.results.cells import SCHEMA
from harness.results.finished import FinishedCell

GROUPS = ("corpus", "golden", "chunker", "model", "index", "retriever", "reranker", "metrics")
# Written out in full: whoever deploys reads them here.
_IN_FULL = ("chunker", "model", "index", "retriever", "reranker")
_PLAIN = ("chunk", "overlap", "context", "k", "tokenizer", "backend", "precision", "cache_dtype")
_HEAD = """\
# One retrieval configuration, written by `python -m harness.pick`.
# Run it again:      python -m harness --config-dir {} --config-name {}
# After a change:    python -m harness.gate {}
"""


@dataclass(frozen=True)
class Production:
    """A production file, read.

    ``composed``: its configuration. ``recorded``: figures. ``provenance``: origins. ``scores``: question id to the value of
    ``recorded["primary"]``; ``clusters``: question id to its cluster.
    """

    path: Path
    composed: Composed
    recorded: Mapping[str, Any]
    provenance: Mapping[str, Any]
    scores: Mapping[str, float]
    clusters: Mapping[str, str]


def write(
    path: Path,
    cell: FinishedCell,
    recorded: Mapping[str, Any],
    origin: Mapping[str, Any],
    question_ids: Sequence[str],
    values: FloatArray,
) -> list[Path]:
    """Writes the file and its scores; gives their paths. Raises ``StoreError`` when the disk refuses."""
    content = cell.content
    settings = _settings(content["config"], cell.params, recorded["primary"], recorded["k"])
    provenance = {
        **origin,
        "run_id": cell.run_id,
        "schema": SCHEMA,
        "model": dict(content["model"]),
        "corpus_digest": content["corpus_digest"],
        "golden_digest": content["golden_digest"],
        "tokenizer_digest": content["tokenizer_digest"],
        "python": content["provenance"]["python"],
        "libraries": {"retrieval-harness": __version__, **content["provenance"]["libraries"]},
    }
    text = _HEAD.format(*(shlex.quote(str(part)) for part in (path.absolute().parent, path.stem, path)))
    text += "\n".join(map(_yaml, (settings, {"recorded": _rounded(recorded)}, {"provenance": provenance})))
    scores = scores_file(path)
    cluster = dict(
        zip(cell.questions["question_id"].astype(str), cell.questions["cluster"].astype(str), strict=True)
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        with scores.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["question_id", "cluster", recorded["primary"]])
            rows.writerows(
                [question_id, cluster[question_id], repr(float(value))]
                for question_id, value in zip(question_ids, values, strict=True)
            )
    except OSError as error:
        raise StoreError(
            f"{path} can't be written ({error.strerror}). Choose another place with output=FILE.", where=path
        ) from error
    return [path, scores]


def scores_file(path: Path) -> Path:
    """Where the scores of the production file ``path`` are."""
    return path.with_suffix(".scores.csv")


def read(path: Path, overrides: Sequence[str] = ()) -> Production:
    """The file with its scores, ``overrides`` applied to its configuration. Raises ``InputError`` for what is no production file."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. python -m harness.pick writes one.", path=path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no YAML: {' '.join(str(error).split())}", path=path) from None
    if not isinstance(content, dict) or not {"defaults", "recorded", "provenance"} <= set(content):
        raise InputError(
            f"{path} is no production file: it needs defaults, recorded and provenance, as python -m harness.pick writes them.",
            path=path,
        )
    folder = str(path.absolute().parent)
    words = Words(("--config-dir", folder, "--config-name", path.stem), (), ())
    composed = compose.composed(words, overrides)
    scores, clusters = _scores(scores_file(path))
    return Production(path, composed, content["recorded"], content["provenance"], scores, clusters)


def _scores(path: Path) -> tuple[dict[str, float], dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
        return {row[0]: float(row[2]) for row in rows}, {row[0]: row[1] for row in rows}
    except FileNotFoundError:
        raise InputError(
            f"{path} is missing: the scores that a new run is compared with. python -m harness.pick writes it beside the production file.",
            path=path,
        ) from None
    except (ValueError, IndexError):
        raise InputError(
            f"{path} can't be read: three columns are expected (question_id, cluster, value). Write it again with python -m harness.pick.",
            path=path,
        ) from None


def _settings(config: Mapping[str, Any], params: Mapping[str, str], primary: str, k: int) -> dict[str, Any]:
    """What makes the configuration: options, plain settings, and every value that is not its option's default."""
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
        "primary_k": k,
    }
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
    """The configuration that the options alone give, and for each group the settings without a default, taken from ``config``."""
    words = [f"{group}={option}" for group, option in options.items()]
    words += [f"{key}={json.dumps(value)}" for key, value in plain.items()]
    words.append(f"cache={quote(config['cache'])}")  # where it was says nothing of the configuration
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
    """Figures with six digits, which is more than a score means; as values that YAML knows."""
    if isinstance(value, Mapping):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, (float, np.floating)) else value
