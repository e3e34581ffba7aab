"""Looking at sweeps in MLflow's UI: what to type, and the server with a link to the newest sweep.

``python -m harness.tracker.mlflow_ui STORE PORT`` starts the server and prints the link; for a store that is
a server already it only prints the link.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError, SettingError
from harness.tracker.mlflow_address import WEB, kind_of, shown, sqlite_path, store_uri
from harness.tracker.mlflow_store import connect_existing
from harness.tracker.mlflow_view import VIEW_TAG, run_link, view_key, view_links

if TYPE_CHECKING:
    from mlflow import MlflowClient

LOCAL_ADDRESS = "http://127.0.0.1:5000"


def how_to_look(uri: str, folder: Path, experiment: str, parent: str) -> list[str]:
    """Lines to print at the end of a sweep: the command that starts the UI, if needed, and the addresses.

    ``folder`` is the tracker's own.
    """
    base = uri if kind_of(uri) in WEB else LOCAL_ADDRESS
    links = view_links(base, experiment, view_key(parent))
    command = {"Open MLflow": _command(uri, folder)} if base != uri else {}
    return [f"{name:<12} {value}" for name, value in (command | links).items()]


def newest_link(client: MlflowClient, base: str) -> str | None:
    """The leaderboard of the newest sweep, its run's page when it has no view, None without a sweep."""
    experiments = {e.experiment_id: e for e in client.search_experiments()}
    newest = client.search_runs(
        list(experiments),
        filter_string="tags.`harness.kind` = 'sweep'",
        order_by=["attributes.start_time DESC"],
        max_results=1,
    )
    if not newest:
        return None
    experiment, run = newest[0].info.experiment_id, newest[0].info.run_id
    key = view_key(run)
    if f"{VIEW_TAG}{key}" in experiments[experiment].tags:
        return view_links(base, experiment, key)["Leaderboard"]
    return run_link(base, experiment, run)


def main(words: Sequence[str]) -> int:
    """Shows the store ``words[0]`` at port ``words[1]`` until it is stopped; gives the exit code."""
    try:
        uri = store_uri(words[0], Path("mlruns"))
        if kind_of(uri) in WEB:
            _say(_newest(uri, uri))
            return 0
        return _serve(uri, _checked_port(words[1]))
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def _checked_port(port: str) -> str:
    """A port of 127.0.0.1 that can be used. Raises ``SettingError`` for any other."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", int(port)))
    except (OSError, ValueError, OverflowError) as error:
        raise SettingError(
            f"Port {port} can't be used on 127.0.0.1 ({getattr(error, 'strerror', None) or error}). "
            "Choose another one: PORT=5001 bash scripts/ui",
            key="PORT",
        ) from None
    return port


def _serve(uri: str, port: str) -> int:
    """Runs MLflow's server as a child; whatever ends this process ends the child too."""
    _say(_newest(uri, f"http://127.0.0.1:{port}"))
    _say(f"MLflow on {shown(uri)} answers in a few seconds; Ctrl-C ends it.")
    words = ["--host", "127.0.0.1", "--port", port, "--workers", "1", "--uvicorn-opts", "--log-level warning"]
    # In its environment, as a password in the address would else be seen in the list of processes.
    environment = os.environ | {"MLFLOW_BACKEND_STORE_URI": uri, "MLFLOW_REGISTRY_STORE_URI": uri}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # In a session of its own: a Ctrl-C that reached its parts one by one would end in tracebacks.
    server = subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-m", "mlflow", "server", *words], env=environment, start_new_session=True
    )
    try:
        return server.wait()
    finally:
        server.terminate()
        server.wait()


def _newest(uri: str, base: str) -> str:
    link = newest_link(connect_existing(uri), base)
    return f"Newest sweep: {link}" if link else f"No sweep yet; MLflow itself is at {base}/#/experiments"


def _command(uri: str, folder: Path) -> str:
    """What starts the UI: the checkout's script where there is one, else MLflow's own command."""
    path = sqlite_path(uri)
    # A database's address may hold a password, which is not printed.
    store = shlex.quote(f"sqlite:///{path}") if path else '"$MLFLOW_TRACKING_URI"'
    if (folder.absolute().parent / "scripts" / "ui").is_file():
        return "bash scripts/ui" if path == folder.absolute() / "mlflow.db" else f"bash scripts/ui {store}"
    return f"MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false mlflow server --workers 1 --backend-store-uri {store}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
