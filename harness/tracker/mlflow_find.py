"""Finished sweeps out of MLflow: found by id or name, their files laid out as in their own folder."""

from __future__ import annotations

import difflib
import os
import re
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import SettingError, StoreError
from harness.files.atomic import read_json, write_json
from harness.tracker import FoundSweep
from harness.tracker.mlflow_address import shown
from harness.tracker.mlflow_artifacts import download
from harness.tracker.mlflow_payload import CLOSED_TAG, FAILED, FOLDER_TAG, KIND_TAG, NOTE_TAG, PARENT_TAG
from harness.tracker.mlflow_runs import cells_of
from harness.tracker.mlflow_store import READING, RUN_FIRST, connect_existing, connected, store_errors

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

SHORTEST_ID = 6
SWEEP_FILE = "sweep.json"
SWEEP_FILES = (SWEEP_FILE, "evidence.jsonl.gz", "texts.json.gz")
CELL_FILES = ("result.json", "config.yaml", "questions.parquet", "rankings.npz")
_SWEEPS = f"tags.`{KIND_TAG}` = 'sweep'"
_FETCHING = "The sweep's files are missing on this machine; start or repair the store."
_AT_ONCE = 8


def find(uri: str, experiment: str, word: str) -> FoundSweep:
    """The finished sweep that ``word`` names; see ``Tracker.find``. No store and no experiment is created."""
    client = connect_existing(uri)
    with store_errors(uri, READING):
        run = _latest(client, uri, experiment) if word == "latest" else _named(client, uri, experiment, word)
    if run.info.status in {"RUNNING", "SCHEDULED"}:
        raise StoreError(
            f"The sweep '{run.info.run_name}' ({run.info.run_id[:SHORTEST_ID]}) is still running. Wait for "
            "its end, or name another one: sweep=ID. If its process was killed, the next sweep closes it.",
            where=shown(uri),
        )
    folder = Path(run.data.tags.get(FOLDER_TAG, ""))
    return FoundSweep(str(run.info.run_name), run.info.run_id, shown(uri), run.info.experiment_id, folder)


def fetch(uri: str, found: FoundSweep, place: Path) -> None:
    """Copies the files of the sweep to ``place``, aside first; a copy of the same cells is not made again."""
    client = connected(uri)
    with store_errors(uri, _FETCHING):
        parent = client.get_run(found.run_id)
        cells = cells_of(client, found.experiment_id, found.run_id)
        cells.sort(key=lambda run: run.info.start_time)
        if _is_there(place, cells):
            return
        aside = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            download(uri, parent, SWEEP_FILES, aside)
            if not (aside / SWEEP_FILE).is_file():
                raise StoreError(
                    f"The sweep '{found.name}' has no {SWEEP_FILE} among its artifacts: it was stopped "
                    f"before its end, or the file was deleted. {found.folder} is not on this machine. "
                    "Run the sweep again.",
                    where=found.uri,
                )
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                list(pool.map(lambda i: _fetch_cell(uri, cells[i], aside / str(i)), range(len(cells))))
            shutil.rmtree(place, ignore_errors=True)
            aside.replace(place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _latest(client: MlflowClient, uri: str, experiment: str) -> Run:
    """The newest closed sweep with a finished cell; one that still runs only where none was closed."""
    known = client.get_experiment_by_name(experiment)
    newest = _search(client, [known.experiment_id], _SWEEPS) if known else []
    if not newest:
        names = ", ".join(e.name for e in client.search_experiments())
        raise StoreError(
            f"There is no sweep in the experiment '{experiment}' of {shown(uri)} yet; the store's "
            f"experiments are: {names}. Choose one with tracker.experiment=NAME. {RUN_FIRST}",
            where=shown(uri),
        )
    closed = [run for run in newest if run.data.tags.get(CLOSED_TAG) or run.info.status == "FINISHED"]
    running = [run for run in newest if run.info.status == "RUNNING"]
    if not closed and not running:
        run = newest[0]
        raise StoreError(
            f"No sweep in the experiment '{experiment}' was finished; the newest, '{run.info.run_name}', was "
            f"stopped. Run it again, or read its finished cells: sweep={run.info.run_id[:SHORTEST_ID]}",
            where=shown(uri),
        )
    scored = (run for run in closed if _has_result(client, run))
    return next(scored, (closed or running)[0])


def _has_result(client: MlflowClient, run: Run) -> bool:
    cells = cells_of(client, run.info.experiment_id, run.info.run_id)
    return any(cell.info.status == "FINISHED" for cell in cells)


def _named(client: MlflowClient, uri: str, experiment: str, word: str) -> Run:
    """The sweep of an id's beginning (in any experiment) or of a name (in this one)."""
    everywhere = [e.experiment_id for e in client.search_experiments()]
    here = client.get_experiment_by_name(experiment)
    sweeps = _search(client, everywhere if here is None else [here.experiment_id], _SWEEPS, 1000)
    by_name = [run for run in sweeps if run.info.run_name == word]
    if len(by_name) > 1:
        raise _ambiguous(word, by_name, "sweeps of that name")
    if by_name:
        return by_name[0]
    if re.fullmatch(r"[0-9a-f]{1,32}", word):
        if len(word) < SHORTEST_ID:
            raise SettingError(
                f"sweep={word} is too short; give at least {SHORTEST_ID} characters of an id.", key="sweep"
            )
        found = _search(client, everywhere, f"attributes.run_id LIKE '{word}%'")
        matches = [run for run in found if KIND_TAG in run.data.tags]
        parents = {run.data.tags.get(PARENT_TAG, run.info.run_id) for run in matches}
        if len(parents) > 1:
            raise _ambiguous(word, matches, "runs whose ids begin like this")
        if parents:
            return client.get_run(parents.pop())
    raise _unknown(word, f"the experiment '{experiment}' of {shown(uri)}", sweeps)


def _search(client: MlflowClient, experiments: Sequence[str], what: str, most: int = 100) -> list[Run]:
    newest_first = ["attributes.start_time DESC"]
    return list(client.search_runs(list(experiments), what, max_results=most, order_by=newest_first))


def _ambiguous(word: str, runs: Sequence[Run], what: str) -> SettingError:
    some = "; ".join(f"{run.info.run_id[:12]} ({run.info.run_name})" for run in runs[:5])
    which = "the newest are" if len(runs) > 5 else "they are"
    return SettingError(
        f"sweep={word}: there are {len(runs)} {what}; {which} {some}. Give more characters of an id.",
        key="sweep",
    )


def _unknown(word: str, where: str, sweeps: Sequence[Run]) -> SettingError:
    known = {name: run for run in sweeps for name in (run.info.run_id[: len(word)], str(run.info.run_name))}
    close = difflib.get_close_matches(word, list(known), 1, cutoff=0.6)
    near = known[close[0]] if close else next(iter(sweeps), None)
    hint = "There is none yet."
    if near is not None:
        which = "nearest" if close else "newest"
        hint = f"The {which} is {near.info.run_id[:12]} ('{near.info.run_name}')."
    return SettingError(f"sweep={word}: no sweep of this name or id is in {where}. {hint}", key="sweep")


def _fetch_cell(uri: str, run: Run, folder: Path) -> None:
    """The files of one cell; an incomplete cell gets the reason instead of its result."""
    download(uri, run, CELL_FILES, folder)
    write_json(folder / "run.json", {"run_id": run.info.run_id, "track_seconds": 0.0})
    missing = [name for name in CELL_FILES if not (folder / name).is_file()]
    if run.info.status == "FINISHED" and not missing:
        return
    (folder / "result.json").unlink(missing_ok=True)
    if run.info.status == "FINISHED":
        names = " and ".join(missing)
        error = f"Its {names} can't be found among the artifacts of run {run.info.run_id[:12]}; deleted?"
    else:
        note = run.data.tags.get(NOTE_TAG, "").partition("\n\n")[0]
        error = note.removeprefix(FAILED) or f"Its run ended as {run.info.status}."
    write_json(folder / "failure.json", {"name": run.info.run_name, "error": error})


def _is_there(place: Path, cells: Sequence[Run]) -> bool:
    copied = [read_json(file)["run_id"] for file in place.glob("*/run.json")]
    return (place / SWEEP_FILE).is_file() and sorted(copied) == sorted(run.info.run_id for run in cells)
