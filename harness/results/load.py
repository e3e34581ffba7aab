"""Finished sweeps, read again: from the sweep's folder where it is on this machine, else from the tracker."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from omegaconf import DictConfig

from harness.cell.settings import new
from harness.cli.hydra_errors import closest
from harness.errors import SettingError, StoreError
from harness.files.atomic import read_json
from harness.results.cells import SCHEMA
from harness.results.finished import FinishedCell, FinishedSweep
from harness.results.folders import folder_meant, recorded_in
from harness.results.snippets import read_excerpts
from harness.results.sweeps import SWEEP, Collected, collected
from harness.tracker import FoundSweep

COST = "context_tokens"
FETCHED = "sweeps"
# Columns of questions.parquet that are read as fixed-width text; other text may be long.
_WORDS = {"question_id", "kind", "source", "cluster", "cause"}


def finished(config: DictConfig) -> FinishedSweep:
    """The sweep that ``config.sweep`` means: ``latest``, an id's first six or more characters (of a sweep or a cell), a name, or a folder.

    Raises ``SettingError`` for a word that means none or several sweeps, ``StoreError`` for a sweep that can't be read: it still runs, no
    cell finished, its files are gone or written by another version, or no two cells were asked the same questions.
    """
    word = "latest" if config.sweep is None else str(config.sweep)
    folder = folder_meant(word)
    if folder is not None:
        return read_folder(folder)
    tracker = new(config, "tracker")
    found = tracker.find(word)
    if found is None:
        return read_folder(recorded_in(word))
    if _is_of(found.folder, found.run_id):
        return read_folder(found.folder, found)
    place = Path(str(config.cache)) / FETCHED / found.run_id
    tracker.fetch(found, place)
    return read_folder(place, found)


def finished_cell(config: DictConfig, word: str) -> tuple[FinishedSweep, FinishedCell]:
    """The cell that ``word`` means with its sweep: a cell's name in ``config.sweep``, or the first six or more characters of its run id.

    Raises what ``finished`` raises, and ``SettingError`` for a word that is no cell's.
    """
    if not re.fullmatch(r"[0-9a-f]{6,32}", word):
        sweep = finished(config)
        scored = [cell.name for cell in sweep.cells]
        if word in scored:
            return sweep, sweep.cell(word)
        failed = {failure["name"]: failure["error"] for failure in sweep.failures}
        if word in failed:
            raise SettingError(f"'{word}' of '{sweep.name}' has no scores: {failed[word]}")
        raise SettingError(
            f"'{word}' is no cell of '{sweep.name}', nor six characters of a run's id.{closest(word, scored)} {_cells(sweep)}"
        )
    sweep = finished(_with_sweep(config, word))
    try:
        return sweep, sweep.cell(word)
    except KeyError:
        raise SettingError(
            f"{word} is a sweep or a failed cell of one, no cell with scores. {_cells(sweep)}"
        ) from None


def _with_sweep(config: DictConfig, word: str) -> DictConfig:
    other = config.copy()
    other.sweep = word
    return other


def read_folder(
    folder: Path, found: FoundSweep | None = None, cells: Collected | None = None
) -> FinishedSweep:
    """The sweep whose ``sweep.json`` is in ``folder``; ``found`` says where it is tracked now, and that it has ended.

    ``cells``: its cells, where they have been read already.
    """
    about = _about(folder)
    if found is None and about["ended"] is None:
        done = len(list(folder.glob("*/result.json")))
        raise StoreError(
            f"The sweep in {folder} has not ended: {done} of {len(about['cells'])} cells have results. It is still running, or its process was "
            "killed; then run the same command again.",
            where=folder,
        )
    names = [cell["name"] for cell in about["cells"]]
    read = cells or collected(folder, names, about["primary"], f"{COST}_at_{about['k']}")
    contents, failures, folders = read.contents, list(read.failures), read.folders
    colors = {cell["name"]: cell["color"] for cell in about["cells"]}
    finished_cells = []
    for content in contents:
        try:
            finished_cells.append(_cell(folders[content["name"]], content, colors.get(content["name"])))
        except (OSError, ValueError, KeyError) as error:
            reason = f"Its files in {folders[content['name']]} can't be read: {error}"
            failures.append({"name": content["name"], "error": reason})
    compared, others = comparable(finished_cells)
    # What was scored and only not tracked is as good as any other here.
    scored = {cell.name for cell in compared}
    failures = [_named(failure) for failure in (*failures, *others) if failure["name"] not in scored]
    if not compared:
        raise _nothing(about["name"], failures)
    texts, evidence = _excerpts(folder)
    return replace(
        _sweep(folder, about, found), cells=compared, failures=failures, texts=texts, evidence=evidence
    )


def comparable(cells: Sequence[FinishedCell]) -> tuple[list[FinishedCell], list[dict[str, str]]]:
    """The cells that were asked the same questions, and the others with the reason.

    Most cells decide, then the larger number of questions. Raises ``StoreError`` when no two cells share a question.
    """
    asked: dict[tuple[str, ...], list[FinishedCell]] = defaultdict(list)
    for cell in cells:
        asked[tuple(cell.questions["question_id"])].append(cell)
    if len(asked) < 2:
        return list(cells), []
    kept = max(asked, key=lambda ids: (len(asked[ids]), len(ids)))
    if len(asked[kept]) == 1 and not any(set(kept) & set(ids) for ids in asked if ids != kept):
        counts = ", ".join(f"{group[0].name} {len(ids)}" for ids, group in asked.items())
        raise StoreError(
            f"The cells share no question ({counts}), so nothing can be compared. Give all cells one golden set."
        )
    others = [
        {
            "name": cell.name,
            "error": f"It was asked {len(ids)} questions, of which {len(set(ids) & set(kept))} are among the {len(kept)} of the others; "
            "cells are compared on the same questions or not at all.",
        }
        for ids, group in asked.items()
        if ids != kept
        for cell in group
    ]
    return list(asked[kept]), others


def _about(folder: Path) -> dict[str, Any]:
    """``sweep.json``, of the version that this program writes."""
    try:
        about = read_json(folder / SWEEP)
        schema = int(about["schema"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{folder / SWEEP} can't be read ({error}).", where=folder) from error
    if schema > SCHEMA:
        raise StoreError(
            f"{folder / SWEEP} was written by a newer version of this program (its files have version {schema}, this one knows up to {SCHEMA}). "
            "Update the program.",
            where=folder,
        )
    if schema < SCHEMA:
        raise StoreError(
            f"{folder / SWEEP} was written by an older version of this program (version {schema} of its files; this one reads {SCHEMA}). Run the "
            "sweep again: embeddings are kept.",
            where=folder,
        )
    return about


def _cell(folder: Path, content: Mapping[str, Any], color: str | None) -> FinishedCell:
    run = folder / "run.json"
    run_id = str(read_json(run)["run_id"]) if run.is_file() else ""
    if not (folder / "rankings.npz").is_file():
        raise FileNotFoundError("rankings.npz is missing")
    questions = _questions(folder / "questions.parquet")
    return FinishedCell(str(content["name"]), run_id, folder, content, questions, color)


def _questions(file: Path) -> dict[str, npt.NDArray[Any]]:
    """The columns, rows sorted by question id."""
    from pyarrow import parquet

    table = parquet.ParquetFile(file).read(use_threads=False)
    columns = {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}
    order = np.argsort(columns["question_id"].astype(str), kind="stable")
    return {
        name: (column.astype(str) if name in _WORDS else column)[order] for name, column in columns.items()
    }


def _sweep(folder: Path, about: Mapping[str, Any], found: FoundSweep | None) -> FinishedSweep:
    handle = about["tracker"]
    is_tracked = found is not None or "run_id" in handle
    return FinishedSweep(
        name=str(about["name"]),
        run_id=found.run_id if found else str(handle.get("run_id", "")),
        uri=found.uri if found else str(handle["uri"]) if is_tracked else "",
        experiment_id=found.experiment_id if found else str(handle.get("experiment_id", "")),
        folder=folder,
        primary=str(about["primary"]),
        k=int(about["k"]),
        axes=about["axes"],
        cells=(),
        failures=(),
    )


def _excerpts(
    folder: Path,
) -> tuple[dict[str, list[tuple[int, str]]], dict[str, list[dict[str, Any]]]]:
    try:
        return read_excerpts(folder)
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"The texts in {folder} can't be read: {error}", where=folder) from error


def _is_of(folder: Path, run_id: str) -> bool:
    """Whether the folder is on this machine and that sweep's: another machine's may bear the same name."""
    try:
        return str(read_json(folder / SWEEP)["tracker"]["run_id"]) == run_id
    except (OSError, ValueError, KeyError):
        return False


def _named(failure: Mapping[str, Any]) -> dict[str, str]:
    return {"name": str(failure["name"]), "error": str(failure["error"])}


def _nothing(name: str, failures: Sequence[Mapping[str, str]]) -> StoreError:
    first = f" For instance {failures[0]['name']}: {failures[0]['error']}" if failures else ""
    return StoreError(f"No cell of the sweep '{name}' can be compared; {len(failures)} failed.{first}")


def _cells(sweep: FinishedSweep) -> str:
    return (
        "Its cells: " + json.dumps([cell.name for cell in sweep.cells[:12]], ensure_ascii=False)[1:-1] + "."
    )
