from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from urllib.request import ProxyHandler, build_opener

import pytest
from tracker_processes import free_port


@pytest.fixture(autouse=True)
def no_outer_store(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_NAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real MLflow server with a store of its own."""
    folder = tmp_path_factory.mktemp("server")
    port = free_port()
    environment = os.environ | {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    words = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    words += [
        "--backend-store-uri",
        f"sqlite:///{folder}/mlflow.db",
        "--artifacts-destination",
        str(folder / "artifacts"),
    ]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *words],
            env=environment,
            stdout=log,
            stderr=log,
            cwd=folder,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        while not _answers(address):
            if _ended(process):
                pytest.fail((folder / "log").read_text())
        yield address
    finally:
        # The server is a parent of its worker: the whole group ends.
        os.killpg(process.pid, 15)
        process.wait(timeout=60)


def _answers(address: str) -> bool:
    try:
        with build_opener(ProxyHandler({})).open(f"{address}/health", timeout=5):
            return True
    except OSError:
        return False


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Waits a moment for the process to end; it should not."""
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return False
    return True
