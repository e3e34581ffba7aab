"""Sweeps whose process ended without closing them (killed, out of memory, power lost) are closed by the next one.

A process is known by host, process id, the time it started and the space of its id: an id alone is used again, and a
container may share its host's name but not its process ids.
"""

from __future__ import annotations

import os
import re
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harness.tracker.mlflow_payload import log, tags
from harness.tracker.mlflow_runs import cells_of, close_left_open

if TYPE_CHECKING:
    from mlflow import MlflowClient

PROCESS_TAG = "harness.process"
NOTE = "The process ended without closing this sweep; finished cells are complete."
_UNKNOWN = "0"


def this_process() -> str:
    """``host:process id:start:space``: start in the system's ticks, 0 where the system doesn't tell; space of the id."""
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid}:{_state_and_start(pid)[1]}:{_space()}"


def close_abandoned(client: MlflowClient, experiment: str) -> None:
    """Marks as killed every running sweep that this host's dead processes left behind, and its running cells."""
    running = "tags.`harness.kind` = 'sweep' and attributes.status = 'RUNNING'"
    for sweep in client.search_runs([experiment], running, max_results=1000):
        if _ended(sweep.data.tags.get(PROCESS_TAG, "")):
            run = sweep.info.run_id
            close_left_open(client, cells_of(client, experiment, run))
            log(client, run, [], [], tags({}, NOTE))
            client.set_terminated(run, "KILLED")


def _ended(process: str) -> bool:
    """Whether a process of this host is gone for certain; other hosts' and unknown ones never are."""
    match = re.fullmatch(r"(.+):(\d+):(\d+):(\d+)", process)
    if match is None or (match[1], match[4]) != (socket.gethostname(), _space()):
        return False
    pid, start = int(match[2]), match[3]
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        # Another user's: it is there.
        pass
    state, now = _state_and_start(pid)
    return state == "Z" or (_UNKNOWN not in {start, now} and start != now)


def _state_and_start(pid: int) -> tuple[str, str]:
    """State and start time of a process from /proc; unknown without it."""
    with suppress(OSError):
        # The name in brackets may hold blanks and brackets itself; the third field, the state, comes after it.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        state, *others = fields.split()
        return state, others[18]
    return "", _UNKNOWN


def _space() -> str:
    """Number of the space in which process ids are counted; 0 without /proc."""
    with suppress(OSError):
        return "".join(re.findall(r"\d", str(Path("/proc/self/ns/pid").readlink())))
    return _UNKNOWN
