from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.model.sources import locate

ASK = """
from harness.errors import ModelError
from harness.model.sentence_transformer import SentenceTransformerModel
import sys
try:
    SentenceTransformerModel(name="some/model", revision="abc", packages=["not-installed-package"]).identity()
except ModelError as error:
    print(error)
print("torch" in sys.modules or "sentence_transformers" in sys.modules)
"""


def ask(tmp_path: Path, **environment: str) -> str:
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.lower().endswith("_proxy") and not key.startswith("HF_")
    }
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**clean, "HF_HOME": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_an_unreachable_hub_is_asked_once_and_the_message_helps(tmp_path: Path) -> None:
    """One connection that is closed without an answer is enough; no retries follow. Places and remedies are named."""
    connections = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connections.append(1)
                connection.close()

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        said = ask(tmp_path, HF_ENDPOINT=endpoint)
        server.shutdown(socket.SHUT_RDWR)
    thread.join()

    assert len(connections) == 1
    assert "'some/model' at revision 'abc' was not found" in said
    assert "not-installed-package" in said
    assert str(tmp_path / "hub") in said
    assert endpoint in said
    assert all(f"({i})" in said for i in (1, 2, 3))
    assert said.endswith("False\n")


def test_a_closed_port_is_named(tmp_path: Path) -> None:
    """Nobody listens at HF_ENDPOINT: the reason is in the message."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    assert "Connection refused" in ask(tmp_path, HF_ENDPOINT=f"http://127.0.0.1:{port}")


def test_offline_mode_asks_nobody(tmp_path: Path) -> None:
    """With HF_HUB_OFFLINE=1 the hub is not contacted, and the message says why."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        said = ask(tmp_path, HF_ENDPOINT=f"http://127.0.0.1:{server.getsockname()[1]}", HF_HUB_OFFLINE="1")
        with pytest.raises(BlockingIOError):
            server.accept()

    assert "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set" in said


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "a/b/c", "../x"])
def test_a_path_is_never_asked_of_the_hub(name: str, tmp_path: Path) -> None:
    """A name that can only be a folder and is none says so at once."""
    with pytest.raises(ModelError, match="looks like a folder"):
        locate(name, "main", (), tmp_path)


def test_the_cache_is_used_without_the_hub(hub_cache: Path, tmp_path: Path) -> None:
    """A cached model is found by branch and by commit, while the hub is switched off."""
    commit = "0123456789abcdef0123456789abcdef01234567"

    assert locate("tiny/bert", "main", (), tmp_path) == locate("tiny/bert", commit, (), tmp_path)
    assert locate("tiny/bert", commit, (), tmp_path).revision == commit
    with pytest.raises(ModelError, match="was not found"):
        locate("tiny/bert", "other", (), tmp_path)


def test_a_half_downloaded_model_is_not_used(hub_cache: Path, tmp_path: Path) -> None:
    """A snapshot without weights is as if it were not there."""
    next(hub_cache.rglob("model.safetensors")).unlink()

    with pytest.raises(ModelError, match="was not found"):
        locate("tiny/bert", "main", (), tmp_path)
