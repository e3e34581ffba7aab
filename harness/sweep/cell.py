"""One job of a sweep, in whatever process the launcher runs it: files first, then the tracker.

A cell that fails is recorded as failed and never stops the others, whatever went wrong.
"""

from __future__ import annotations

import platform
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from harness.cell import pipeline
from harness.cell.build import Components, Shared
from harness.cell.pipeline import Result
from harness.cell.settings import cut_offs, new
from harness.cell.timing import timed
from harness.cli.compose import Composed
from harness.cli.say import say
from harness.errors import HarnessError, StoreError
from harness.files.atomic import read_json, write_json
from harness.paths import register_resolvers
from harness.results.cells import SCHEMA, about_questions, write_questions, write_rankings
from harness.results.sweeps import SWEEP
from harness.sweep.naming import GROUPS, cell_name, params
from harness.tracker import CellRecord
from harness.view import notes, terminal

LIBRARIES = ("mlflow", "numpy", "sentence-transformers", "tokenizers", "torch", "transformers")


class CellTask:
    """What Hydra runs for every cell, in whatever process its launcher chooses.

    ``cells`` are read by the sweeper, in this process only; ``shared`` holds what the cells of a process have
    in common.
    """

    def __init__(self, cells: Sequence[Composed], shared: Shared) -> None:
        self.cells = cells
        self._shared = shared

    def __reduce__(self) -> tuple[type[CellTask], tuple[list[Composed], Shared]]:
        """A job in another process needs no cell but its own, whose configuration the launcher hands over."""
        return CellTask, ([], self._shared)

    def __call__(self, config: DictConfig) -> float:
        """Scores one cell and records it; gives the primary metric, nan when the cell failed."""
        hydra = HydraConfig.get()
        folder = Path(hydra.runtime.output_dir)
        register_resolvers()
        sweep = read_json(folder.parent / SWEEP)
        settings = params(config, dict(hydra.runtime.choices), list(hydra.overrides.task), sweep["axes"])
        name = cell_name(settings, sweep["axes"])
        color = next((cell["color"] for cell in sweep["cells"] if cell["name"] == name), None)
        job = _Job(config, sweep, settings, name, folder)
        number = int(folder.name) + 1 if folder.name.isdigit() else 1
        started = time.time()
        say(terminal.cell_begins(number, len(sweep["cells"]), name))
        try:
            value, record = _scored(self._shared, job)
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the other cells must run and this one must be on record
            value, record = float("nan"), _failed(error, job)
        record = replace(record, color=color, started_ms=int(1000 * started), provenance=sweep["provenance"])
        _track(config, sweep, record)
        say(terminal.cell_ends(number, len(sweep["cells"]), record, sweep["primary"], time.time() - started))
        return value


class _Job(NamedTuple):
    """A cell that runs: its configuration, ``sweep.json``, its settings as shown, its name and folder."""

    config: DictConfig
    sweep: Mapping[str, Any]
    settings: Mapping[str, str]
    name: str
    folder: Path


def _scored(shared: Shared, job: _Job) -> tuple[float, CellRecord]:
    """Evaluates the cell and writes its files."""
    config, folder, primary = job.config, job.folder, job.sweep["primary"]
    ks = cut_offs(config)
    seconds: dict[str, float] = {}
    with timed(seconds, "load"):
        shared.inputs(config)
    with timed(seconds, "chunk"):
        made = shared.components(config)
    result = pipeline.evaluate(made, ks, primary)
    metrics = result.metrics()
    metrics = {primary: metrics[primary], **metrics}
    with timed(seconds, "write"):
        texts = bool(OmegaConf.select(config, "tracker.texts", default=True))
        write_rankings(folder / "rankings.npz", result.questions, result.rankings, result.chunks)
        file, about = folder / "questions.parquet", about_questions(made.inputs)
        write_questions(file, result.questions, result.scores, about, texts=texts)
        OmegaConf.save(config, folder / "config.yaml", resolve=True)
    content = _content(job, made, result, metrics)
    content["timing"] |= {f"{stage}_seconds": value for stage, value in seconds.items()}
    write_json(folder / "result.json", content)
    causes = {f"diagnosis_{cause}": float(n) for cause, n in content["diagnosis"].items()}
    record = CellRecord(
        name=job.name,
        folder=folder,
        params=job.settings,
        metrics=metrics | content["health"] | content["timing"] | causes,
        curves={curve: {k: metrics[f"{curve}_at_{k}"] for k in ks} for curve in ("recall", "ndcg")},
        tags={"primary": primary, "corpus_digest": content["corpus_digest"]},
        note=notes.cell_note(job.name, content, primary),
    )
    return metrics[primary], record


def _content(job: _Job, made: Components, result: Result, metrics: Mapping[str, float]) -> dict[str, Any]:
    """``result.json``: what the cell is and what came out; machine-dependent things stand apart."""
    causes = [cause for scores in result.scores.values() for cause in scores.cause]
    return {
        "schema": SCHEMA,
        "name": job.name,
        "params": dict(job.settings),
        "primary": job.sweep["primary"],
        "k": cut_offs(job.config),
        "questions": {kind: len(asked) for kind, asked in result.questions.items()},
        "metrics": dict(metrics),
        "chunk_independent": sorted(
            set().union(*(scores.chunk_independent for scores in result.scores.values()))
        ),
        "health": dict(result.health),
        "remarks": dict(result.remarks),
        "diagnosis": {cause: causes.count(cause) for cause in sorted(set(causes))},
        "model": dict(result.model),
        "reranker": dict(result.reranker),
        "corpus_digest": made.inputs.corpus.digest,
        "golden_digest": made.inputs.labels.digest,
        "tokenizer_digest": made.inputs.tokenizer.digest,
        "config": OmegaConf.to_container(job.config, resolve=True),
        "timing": dict(result.timing),
        "provenance": {
            **job.sweep["provenance"],
            "python": platform.python_version(),
            "machine": platform.machine(),
            "libraries": {library: version(library) for library in LIBRARIES},
        },
    }


def _failed(error: Exception, job: _Job) -> CellRecord:
    """The record of a cell that failed.

    An unexpected error, of the program or of a class of the user's, keeps its traceback in a file.
    """
    name, settings, folder = job.name, job.settings, job.folder
    if isinstance(error, HarnessError):
        message = str(error)
    else:
        trace = folder / "traceback.txt"
        trace.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        targets = (OmegaConf.select(job.config, f"{group}._target_") for group in (*GROUPS, "metrics"))
        own = (str(target) for target in targets if not str(target).startswith("harness."))
        culprit = " or ".join([*own, "the program"])
        message = f"Unexpected {type(error).__name__}: {error}. This is a fault of {culprit}; see {trace}."
    write_json(
        folder / "failure.json", {"schema": SCHEMA, "name": name, "params": dict(settings), "error": message}
    )
    return CellRecord(name=name, folder=folder, params=settings, error=message)


def _track(config: DictConfig, sweep: Mapping[str, Any], record: CellRecord) -> None:
    """Sends the cell to the tracker.

    Its files are on disk already, so a dead server costs the entry and not the result.
    """
    try:
        seconds: dict[str, float] = {}
        with timed(seconds, "track"):
            run_id = new(config, "tracker").record_cell(sweep["tracker"], record)
        write_json(record.folder / "run.json", {"run_id": run_id, "track_seconds": seconds["track"]})
    except StoreError as error:
        write_json(record.folder / "untracked.json", {"name": record.name, "error": str(error)})
