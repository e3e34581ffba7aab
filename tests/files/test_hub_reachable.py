from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from harness.files import hub
from harness.files.hub import why_unreachable


@contextmanager
def answering(status: int) -> Iterator[str]:
    """The address of a server that answers every request with ``status``."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("status", [200, 401, 404, 405, 500])
def test_any_status_is_an_answer(status: int) -> None:
    """A server that refuses the request is there all the same."""
    with answering(status) as address:
        assert why_unreachable(address, 5.0) == ""


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_before_a_server_that_is_down_is_no_answer(status: int) -> None:
    """The status of the proxy is the reason."""
    with answering(status) as address:
        assert why_unreachable(address, 5.0) == f"its proxy answers with status {status}"


@pytest.mark.parametrize("scheme", ["http", "tcp"])
def test_a_closed_port_is_the_reason(scheme: str) -> None:
    """The system's own words are passed on."""
    assert "onnection refused" in why_unreachable(f"{scheme}://127.0.0.1:{closed_port()}", 5.0)


def test_a_port_that_accepts_is_enough_for_other_protocols() -> None:
    """Nothing is sent to a database."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert why_unreachable(f"tcp://127.0.0.1:{server.getsockname()[1]}", 5.0) == ""


def test_a_silent_server_is_given_up() -> None:
    """A port that accepts and never answers costs no more than the seconds that were allowed."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert "timed out" in why_unreachable(f"http://127.0.0.1:{silent.getsockname()[1]}", 0.2)


def test_a_name_that_is_looked_up_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server obeys no time limit of the request."""
    done = threading.Event()
    monkeypatch.setattr(hub, "_request", lambda *_: str(done.wait(60)))
    monkeypatch.setattr(hub, "_GRACE_SECONDS", 0.1)
    assert why_unreachable("http://host", 0.1) == "no answer within 0.1 s"
    done.set()


@pytest.mark.parametrize("address", ["http://[bad", "tcp://h:abc", "http://h:abc"])
def test_what_is_not_an_address_is_a_reason(address: str) -> None:
    """Never a traceback."""
    assert why_unreachable(address, 1.0) != ""
