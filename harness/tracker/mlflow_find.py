"""Sweeps in MLflow, found again: the newest one, by the beginning of an id, or by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import SettingError, StoreError
from harness.tracker import Found
from harness.tracker.mlflow_address import shown
from harness.tracker.mlflow_sqlite import sqlite_path
from harness.tracker.mlflow_store import connect, store_errors

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

# Set when all cells of a sweep had their turn, whether or not they succeeded.
CLOSED_TAG = "harness.closed"
KIND_TAG, PARENT_TAG, FOLDER_TAG = "harness.kind", "mlflow.parentRunId", "harness.folder"
REMEDY = "Start or mend the store, or correct tracker.uri (or MLFLOW_TRACKING_URI)."
SHORTEST_ID = 6
_RUN_FIRST = "Run a sweep first: python -m harness -m model=minilm,wordllama chunk=256,512"
_SWEEPS = f"tags.`{KIND_TAG}` = 'sweep'"
_NEWEST = ("attributes.start_time DESC",)


def find(uri: str, experiment: str, word: str) -> Found:
    """The sweep that has ended and that ``word`` means; see ``Tracker.find``. No store and no experiment is created."""
    path = sqlite_path(uri)
    if path and not path.is_file():
        raise StoreError(f"There is no tracking store at {shown(uri)} yet. {_RUN_FIRST}", where=uri)
    client = connect(uri, REMEDY)
    with store_errors(uri, REMEDY):
        run = _latest(client, uri, experiment) if word == "latest" else _named(client, uri, experiment, word)
    if run.info.status in {"RUNNING", "SCHEDULED"}:
        raise StoreError(
            f"The sweep '{run.info.run_name}' ({run.info.run_id[:SHORTEST_ID]}) is still running. Wait for its end, or name another one: "
            "sweep=ID. If its process was killed, the next sweep will close it.",
            where=shown(uri),
        )
    folder = Path(run.data.tags.get(FOLDER_TAG, ""))
    return Found(str(run.info.run_name), run.info.run_id, shown(uri), run.info.experiment_id, folder)


def _latest(client: MlflowClient, uri: str, experiment: str) -> Run:
    """The newest sweep that was closed; one that still runs or was stopped is no answer while there is another."""
    found = client.get_experiment_by_name(experiment)
    if found is None:
        others = ", ".join(e.name for e in client.search_experiments()) or "none"
        raise StoreError(
            f"There is no experiment '{experiment}' in {shown(uri)} (there are: {others}). Name one with tracker.experiment=NAME. {_RUN_FIRST}",
            where=shown(uri),
        )
    newest = _search(client, [found.experiment_id], _SWEEPS)
    if not newest:
        raise StoreError(
            f"There is no sweep in the experiment '{experiment}' of {shown(uri)} yet. {_RUN_FIRST}",
            where=shown(uri),
        )
    closed = [run for run in newest if run.data.tags.get(CLOSED_TAG) or run.info.status == "FINISHED"]
    running = [run for run in newest if run.info.status == "RUNNING"]
    if not closed and not running:
        run = newest[0]
        raise StoreError(
            f"No sweep in the experiment '{experiment}' came to its end; the newest, '{run.info.run_name}', was stopped. Run it again, or read "
            f"the cells that it finished: sweep={run.info.run_id[:SHORTEST_ID]}",
            where=shown(uri),
        )
    return (closed or running)[0]


def _named(client: MlflowClient, uri: str, experiment: str, word: str) -> Run:
    """The sweep of an id's beginning (in any experiment) or of a name (in this one)."""
    everywhere = [e.experiment_id for e in client.search_experiments()]
    here = client.get_experiment_by_name(experiment)
    there = everywhere if here is None else [here.experiment_id]
    by_name = [run for run in _search(client, there, _SWEEPS, 1000) if run.info.run_name == word]
    if len(by_name) > 1:
        raise _ambiguous(word, by_name, "sweeps of that name")
    if by_name:
        return by_name[0]
    if re.fullmatch(r"[0-9a-f]{1,32}", word):
        if len(word) < SHORTEST_ID:
            raise SettingError(
                f"sweep={word} is too short; give at least {SHORTEST_ID} characters of an id.", key="sweep"
            )
        matches = [
            run
            for run in _search(client, everywhere, f"attributes.run_id LIKE '{word}%'")
            if KIND_TAG in run.data.tags
        ]
        parents = {run.data.tags.get(PARENT_TAG, run.info.run_id) for run in matches}
        if len(parents) > 1:
            raise _ambiguous(word, matches, "runs whose ids begin so")
        if parents:
            return client.get_run(parents.pop())
    raise _unknown(word, uri, experiment, _search(client, there, _SWEEPS, 1000))


def _search(client: MlflowClient, experiments: Sequence[str], what: str, most: int = 100) -> list[Run]:
    return list(client.search_runs(list(experiments), what, max_results=most, order_by=list(_NEWEST)))


def _ambiguous(word: str, runs: Sequence[Run], what: str) -> SettingError:
    some = "; ".join(f"{run.info.run_id[:12]} ({run.info.run_name})" for run in runs[:5])
    more = " and others" if len(runs) > 5 else ""
    return SettingError(
        f"sweep={word}: there are {len(runs)} {what}: {some}{more}. Give more characters of an id.",
        key="sweep",
    )


def _unknown(word: str, uri: str, experiment: str, sweeps: Sequence[Run]) -> SettingError:
    known = {name: run for run in sweeps for name in (run.info.run_id[: len(word)], str(run.info.run_name))}
    close = difflib.get_close_matches(word, list(known), 1, cutoff=0.6)
    near = known[close[0]] if close else next(iter(sweeps), None)
    hint = "There is none yet."
    if near is not None:
        hint = (
            f"{'The nearest' if close else 'The newest'} is {near.info.run_id[:12]} ('{near.info.run_name}')."
        )
    return SettingError(
        f"sweep={word}: no sweep has this name and no run an id that begins so, in the experiment '{experiment}' of {shown(uri)}. {hint}",
        key="sweep",
    )
