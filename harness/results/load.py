"""Finished sweeps, read from their folder where it is on this machine, else from the tracker."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
from harness.results.finished import Collected, FinishedCell, FinishedSweep, collected
from harness.results.scores import comparable
from harness.results.snippets import read_excerpts
from harness.results.sweeps import SWEEP, folder_meant, recorded_in, untracked_after
from harness.tracker import FoundSweep
from harness.verdict.power import Look

FETCHED = "sweeps"
_NAMED = 12  # cells that a message lists
# Columns of questions.parquet that are read as fixed-width text; other text may be long.
_WORDS = {"question_id", "kind", "source", "cluster", "cause"}


def finished(config: DictConfig) -> FinishedSweep:
    """The sweep of ``config.sweep``: ``latest``, a name, a folder, or six characters of an id.

    Raises ``SettingError`` for a word that means none or several sweeps. Raises ``StoreError`` for a sweep
    that can't be read: it is still running, no cell finished, its files are missing or of another version, or
    no two cells have the same questions.
    """
    word = "latest" if config.sweep is None else str(config.sweep)
    if folder := folder_meant(word):
        return read_folder(folder)
    tracker = new(config, "tracker")
    found = tracker.find(word)
    if found is None:
        return read_folder(recorded_in(word))
    if word == "latest" and (own := untracked_after(found.folder)):
        return read_folder(own)
    if _is_of(found.folder, found.run_id):
        return read_folder(found.folder, found)
    place = Path(str(config.cache)) / FETCHED / found.run_id
    tracker.fetch(found, place)
    return read_folder(place, found)


def finished_cell(config: DictConfig, word: str) -> tuple[FinishedSweep, FinishedCell]:
    """A cell and its sweep; ``word``: a name in ``config.sweep``, or six characters of its run id.

    Raises what ``finished`` raises, and ``SettingError`` for an unknown cell.
    """
    if not re.fullmatch(r"[0-9a-f]{6,32}", word):
        sweep = finished(config)
        failed = {failure["name"]: failure["error"] for failure in sweep.failures}
        if word in failed:
            raise SettingError(f"'{word}' of '{sweep.name}' has no scores: {failed[word]}")
        try:
            return sweep, sweep.cell(word)
        except KeyError:
            raise SettingError(
                f"unknown cell '{word}' of '{sweep.name}'.{cells_of(sweep, word)} "
                "Six or more characters of a run's id are allowed too."
            ) from None
    other = config.copy()
    other.sweep = word
    sweep = finished(other)
    try:
        return sweep, sweep.cell(word)
    except KeyError:
        raise SettingError(
            f"{word} is a sweep or a failed cell, not a cell with scores.{cells_of(sweep, word)}"
        ) from None


def read_folder(
    folder: Path, found: FoundSweep | None = None, cells: Collected | None = None
) -> FinishedSweep:
    """The sweep in ``folder``; ``found``: where it is tracked, once it has ended; ``cells``: its cells."""
    about = _about(folder)
    if found is None and about["ended"] is None:
        done = len(list(folder.glob("*/result.json")))
        raise StoreError(
            f"The sweep in {folder} has not ended; cells with results: {done} of {len(about['cells'])}. "
            "If its process was killed, run the same command again.",
            where=folder,
        )
    names = [cell["name"] for cell in about["cells"]]
    read = cells or collected(folder, names, about["primary"], about["k"])
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
    # A cell that was scored and not tracked has all its results.
    scored = {cell.name for cell in compared}
    failures = [failure for failure in (*failures, *others) if failure["name"] not in scored]
    if not compared:
        first = f" For instance {failures[0]['name']}: {failures[0]['error']}" if failures else ""
        raise StoreError(
            f"No cell of the sweep '{about['name']}' can be compared; {len(failures)} failed.{first}"
        )
    try:
        texts, evidence = read_excerpts(folder)
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"The texts in {folder} can't be read: {error}", where=folder) from error
    return replace(
        _sweep(folder, about, found), cells=compared, failures=failures, texts=texts, evidence=evidence
    )


def _about(folder: Path) -> dict[str, Any]:
    """``sweep.json``, of the version that this program writes."""
    try:
        about = read_json(folder / SWEEP)
        schema = int(about["schema"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{folder / SWEEP} can't be read ({error}).", where=folder) from error
    if schema != SCHEMA:
        age, mend = (
            ("a newer", "Update the program") if schema > SCHEMA else ("an older", "Run the sweep again")
        )
        raise StoreError(
            f"{folder / SWEEP} was written by {age} version of this program (file version {schema}; this one "
            f"reads {SCHEMA}). {mend}.",
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
        look=Look(**about.get("look", {})),
    )


def _is_of(folder: Path, run_id: str) -> bool:
    """Whether the folder on this machine belongs to that sweep, and not to another machine's."""
    try:
        return str(read_json(folder / SWEEP)["tracker"]["run_id"]) == run_id
    except (OSError, ValueError, KeyError):
        return False


def cells_of(sweep: FinishedSweep, word: str) -> str:
    """Which cells may have been meant by an unknown ``word``, as the end of a message."""
    names = [cell.name for cell in sweep.cells]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{closest(word, names)} Its cells: {', '.join(names[:_NAMED])}{more}."
