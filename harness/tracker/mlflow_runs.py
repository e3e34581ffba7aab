"""Runs of a sweep: how they start, what is noted on them afterwards, and how they end.

Sweeps whose process ended without closing them (killed, out of memory, power lost) are closed by the next
one. A process is identified by host, process id and start time: an id alone is used again.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harness.tracker import CellVerdict
from harness.tracker.mlflow_names import MetricNames
from harness.tracker.mlflow_payload import NOTE_TAG, PARENT_TAG, log, metrics, tags
from harness.tracker.mlflow_store import connected, store_errors
from harness.tracker.mlflow_view import run_link

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run, RunTag

PROCESS_TAG = "harness.process"
ABANDONED = "The process ended without closing this sweep; finished cells are complete."
_UNKNOWN = "0"
_PICKED = "**Pick:** "


def started(
    client: MlflowClient,
    experiment: str,
    name: str,
    marks: Iterable[RunTag],
    started_ms: int | None = None,
) -> Run:
    """A new run with all its tags, which costs one write instead of two."""
    # What MLflow's own functions would note as the run's origin.
    all_tags = {"mlflow.source.name": "python -m harness", "mlflow.source.type": "LOCAL"}
    # A container's user may have no name; the run then shows none.
    with suppress(KeyError, OSError):
        all_tags["mlflow.user"] = getpass.getuser()
    all_tags |= {tag.key: tag.value for tag in marks}
    return client.create_run(experiment, start_time=started_ms, tags=all_tags, run_name=name)


def cells_of(client: MlflowClient, experiment: str, parent: str) -> list[Run]:
    """The newest 1,000 cells of a sweep."""
    return list(client.search_runs([experiment], f"tags.{PARENT_TAG} = '{parent}'", max_results=1000))


def record_verdicts(uri: str, verdicts: Sequence[CellVerdict], primary: str, k: int) -> None:
    """Notes verdict and interval on every cell; ``primary`` and ``k`` are the sweep's."""
    client, names = connected(uri), MetricNames(primary, k)
    with store_errors(uri):
        for cell in verdicts:
            limits = metrics(names.renamed(cell.limits))
            log(client, cell.run_id, limits, [], tags({"verdict": cell.verdict}, ""))


def record_pick(uri: str, experiment: str, parent: str, run_id: str, name: str) -> None:
    """Notes the picked cell on the sweep's run, as its description's second paragraph."""
    client = connected(uri)
    with store_errors(uri):
        note = client.get_run(parent).data.tags.get(NOTE_TAG, "")
        paragraphs = [part for part in note.split("\n\n") if not part.startswith(_PICKED)]
        picked = f"{_PICKED}[{name}]({run_link('', experiment, run_id).removeprefix('/')})"
        text = "\n\n".join([*paragraphs[:1], picked, *paragraphs[1:]])
        log(client, parent, [], [], tags({"pick": name, "pick_run_id": run_id}, text))


@contextmanager
def closed_on_error(client: MlflowClient, run: str) -> Iterator[None]:
    """Marks the run as failed when an error leaves the block."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            client.set_terminated(run, "FAILED")
        raise


def close_left_open(client: MlflowClient, cells: Iterable[Run]) -> None:
    """Marks the cells that are still running as killed."""
    for cell in cells:
        if cell.info.status == "RUNNING":
            client.set_terminated(cell.info.run_id, "KILLED")


def close_abandoned(client: MlflowClient, experiment: str) -> None:
    """Marks the running sweeps that this host's dead processes left behind as killed, with their cells."""
    running = "tags.`harness.kind` = 'sweep' and attributes.status = 'RUNNING'"
    for sweep in client.search_runs([experiment], running, max_results=1000):
        if _ended(sweep.data.tags.get(PROCESS_TAG, "")):
            run = sweep.info.run_id
            close_left_open(client, cells_of(client, experiment, run))
            log(client, run, [], [], tags({}, ABANDONED))
            client.set_terminated(run, "KILLED")


def this_process() -> str:
    """``host:process id:start``: start in the system's ticks; 0 where it is unknown."""
    return f"{socket.gethostname()}:{os.getpid()}:{_start(os.getpid())}"


def _ended(process: str) -> bool:
    """Whether a process of this host has certainly ended; False for other hosts' and unknown ones."""
    match = re.fullmatch(r"(.+):(\d+):(\d+)", process)
    if match is None or match[1] != socket.gethostname():
        return False
    try:
        os.kill(int(match[2]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        # Another user's: it is there.
        pass
    known = {match[3], _start(int(match[2]))}
    return len(known) > 1 and _UNKNOWN not in known


def _start(pid: int) -> str:
    """Start time of a process from /proc; unknown without it."""
    with suppress(OSError):
        # The name in brackets may hold blanks and brackets; the third field comes after it.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        return fields.split()[19]
    return _UNKNOWN
