from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import harness

ROOT = Path(harness.__file__).resolve().parent.parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def python(code: str, *words: str, stdin: int | None = None) -> subprocess.Popen[str]:
    """A process of its own that runs ``code`` with the project importable."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        env=environment,
        text=True,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
