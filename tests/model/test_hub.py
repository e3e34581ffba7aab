"""A stand-in for the hub on the loopback, with the few answers that a download needs."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
CODE = """
import json, sys
from harness.errors import ModelError
from harness.model.sentence_transformer import SentenceTransformerModel
try:
    print(json.dumps(dict(SentenceTransformerModel(name=sys.argv[1], cache_dir=sys.argv[2]).identity())))
except ModelError as error:
    print(error)
"""


class StandInHub(BaseHTTPRequestHandler):
    files: dict[str, bytes]
    asked: list[str]

    def log_message(self, *_: Any) -> None:
        """Silence."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = self.path.split("?", maxsplit=1)[0]
        self.asked.append(path)
        headers = {"X-Repo-Commit": COMMIT}
        if path == "/":
            content = b""
        elif path == "/api/models/tiny/bert/revision/main":
            content = json.dumps(
                {"id": "tiny/bert", "sha": COMMIT, "siblings": [{"rfilename": name} for name in self.files]}
            ).encode()
        elif path.startswith("/api/models/tiny/bert/tree/"):
            entries = [
                {"type": "file", "path": n, "size": len(c), "oid": hashlib.sha1(c).hexdigest()}
                for n, c in self.files.items()
            ]
            content = json.dumps(entries).encode()
        elif path.startswith(f"/tiny/bert/resolve/{COMMIT}/"):
            content = self.files[path.removeprefix(f"/tiny/bert/resolve/{COMMIT}/")]
            headers["ETag"] = f'"{hashlib.sha1(content).hexdigest()}"'
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        for key, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(key, value)
        self.end_headers()
        if body:
            self.wfile.write(content)


@pytest.fixture
def hub(tiny_folder: Path) -> Iterator[tuple[str, list[str]]]:
    files = {
        path.relative_to(tiny_folder).as_posix(): path.read_bytes()
        for path in tiny_folder.rglob("*")
        if path.is_file()
    }
    files |= {"onnx/model.onnx": b"x", "pytorch_model.bin": b"x", "README.md": b"x", "code.py": b"x"}
    asked: list[str] = []
    handler = type("Handler", (StandInHub,), {"files": files, "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def ask(endpoint: str, name: str, home: Path) -> str:
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.lower().endswith("_proxy") and not key.startswith("HF_")
    }
    environment = {**clean, "HF_ENDPOINT": endpoint, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-c", CODE, name, str(home / "cache")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_a_model_is_downloaded_once_with_what_it_needs(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    """The branch becomes its commit; no other format of the weights, no code; the second time the hub isn't asked."""
    endpoint, asked = hub
    identity = json.loads(ask(endpoint, "tiny/bert", tmp_path))

    assert (identity["revision"], identity["source"], identity["dim"]) == (COMMIT, "hub", 32)
    fetched = {path.rsplit("/", maxsplit=1)[-1] for path in asked if "/resolve/" in path}
    assert fetched >= {"modules.json", "model.safetensors", "tokenizer.json"}
    assert not fetched & {"model.onnx", "pytorch_model.bin", "README.md", "code.py"}
    before = len(asked)
    assert json.loads(ask(endpoint, "tiny/bert", tmp_path)) == identity
    assert len(asked) == before


def test_a_name_the_hub_does_not_know(hub: tuple[str, list[str]], tmp_path: Path) -> None:
    """The message names the model, the address and what to check."""
    said = ask(hub[0], "tiny/nothing", tmp_path)

    assert "'tiny/nothing' at revision 'main' could not be downloaded" in said
    assert hub[0] in said
    assert "Check the name" in said
