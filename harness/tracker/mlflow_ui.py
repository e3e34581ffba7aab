"""MLflow's UI on one store: starts its server, waits until it answers, says where the newest sweep is.

``python -m harness.tracker.mlflow_ui STORE PORT``; a store that is a server already is only asked for its newest sweep.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from harness.errors import HarnessError, SettingError, StoreError
from harness.tracker.mlflow_address import WEB, kind_of, shown, store_uri
from harness.tracker.mlflow_links import newest_link
from harness.tracker.mlflow_probe import unreachable
from harness.tracker.mlflow_sqlite import sqlite_path
from harness.tracker.mlflow_store import connect

START_SECONDS = 120.0
_TRY_SECONDS = 2.0
_PAUSE_SECONDS = 0.2
_USUAL = b"[MLflow] Security middleware enabled"


def main(words: list[str]) -> int:
    """Shows the store ``words[0]`` at port ``words[1]`` until it is stopped; gives the exit code."""
    try:
        uri = store_uri(words[0], Path("mlruns"))
        if kind_of(uri) in WEB:
            _say(_newest(uri, uri))
            return 0
        port = port_of(words[1])
        path = sqlite_path(uri)
        if path and not path.is_file():
            raise StoreError(
                f"There is no tracking store at {uri} yet. Run a sweep first: python -m harness -m model=minilm chunk=256,512",
                where=uri,
            )
        return _serve(uri, port)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def port_of(text: str) -> int:
    """A port of 127.0.0.1 that is free. Raises ``SettingError`` for what is none or is taken."""
    port = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= port <= 65535:
        raise SettingError(
            f"PORT={text} is no port; give a whole number from 1 to 65535: PORT=5001 bash scripts/ui",
            key="PORT",
        )
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise SettingError(
                f"Port {port} can't be used on 127.0.0.1 ({error.strerror}). Choose another one: PORT=5001 bash scripts/ui",
                key="PORT",
            ) from None
    return port


def _serve(uri: str, port: int) -> int:
    base = f"http://127.0.0.1:{port}"
    text = _newest(uri, base)
    _say(f"Starting MLflow on {shown(uri)}; Ctrl-C ends it.")
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", "1", "--uvicorn-opts", "--log-level warning"]
    # In its environment, as a password in the address would else be seen in the list of processes.
    environment = os.environ | {"MLFLOW_BACKEND_STORE_URI": uri, "MLFLOW_REGISTRY_STORE_URI": uri}
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, _interrupted)
    # In a group of its own: a Ctrl-C that reached its parts one by one would end in tracebacks.
    server = subprocess.Popen(  # noqa: S603 - our own words
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    threading.Thread(target=_pass_on, args=(server,), daemon=True).start()
    try:
        if _answers(server, base):
            _say(text)
            return server.wait()
        sys.stderr.write(f"MLflow did not start at {base}; what it said stands above.\n")
        return 1
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def _pass_on(server: subprocess.Popen[bytes]) -> None:
    """Shows what the server says as errors, but for the line it says every time."""
    for line in server.stdout or ():
        if not line.startswith(_USUAL):
            sys.stderr.write(line.decode(errors="replace"))
            sys.stderr.flush()


def _answers(server: subprocess.Popen[bytes], base: str) -> bool:
    """Waits for the server; False when it ended, or did not answer in two minutes."""
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        if not unreachable(f"{base}/health", _TRY_SECONDS):
            return True
        time.sleep(_PAUSE_SECONDS)
    return False


def _newest(uri: str, base: str) -> str:
    link = newest_link(connect(uri), base)
    return f"Newest sweep: {link}" if link else f"No sweep yet; MLflow itself is at {base}/#/experiments"


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
