"""Asks whether a server answers, and gives up in time even when the name can't be resolved."""

from __future__ import annotations

import http.client
import queue
import socket
import threading
from collections.abc import Callable
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen


def unreachable(url: str, seconds: float) -> str:
    """Why nothing answers at ``url`` within ``seconds``; empty when something does, whatever it says."""
    return _in_time(lambda: _ask(url, seconds), seconds)


def closed_port(host: str, port: int, seconds: float) -> str:
    """Why nothing accepts a connection at ``host`` and ``port`` within ``seconds``; empty when something does."""
    return _in_time(lambda: _knock(host, port, seconds), seconds)


def _in_time(question: Callable[[], str], seconds: float) -> str:
    """The answer to a question asked in a thread, because looking up a host name knows no time limit."""
    answer: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: answer.put(question()), daemon=True).start()
    try:
        return answer.get(timeout=seconds + 1.0)
    except queue.Empty:
        return f"no answer within {seconds:.0f} s"


def _knock(host: str, port: int, seconds: float) -> str:
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except (OSError, ValueError) as error:
        return str(getattr(error, "strerror", None) or error)
    return ""


def _ask(url: str, seconds: float) -> str:
    try:
        with urlopen(Request(url), timeout=seconds):  # noqa: S310 - the caller only passes http addresses
            return ""
    except HTTPError as error:
        error.close()
        # 502 to 504 come from a proxy in front of a server that is down.
        return f"its proxy says {error.code} {error.reason}" if error.code in {502, 503, 504} else ""
    except URLError as error:
        return str(getattr(error.reason, "strerror", None) or error.reason)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return str(error) or type(error).__name__
