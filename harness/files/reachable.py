"""Whether a server answers, found out within seconds: clients by themselves retry for minutes."""

from __future__ import annotations

import socket
from threading import Thread

# A proxy says one of these for a server behind it that is down.
_PROXY_ERRORS = {502, 503, 504}
# More than the request itself may take.
_GRACE_SECONDS = 1.0


def why_unreachable(address: str, seconds: float) -> str:
    """The reason why nothing answers at ``address`` within ``seconds``; empty when something does.

    ``address`` is ``http://...``, ``https://...``, or ``tcp://host:port`` for a server that speaks another
    protocol. Any HTTP status is an answer, apart from those that a proxy sends for a server that is down.
    """
    ask = _connect if address.startswith("tcp:") else _request
    outcome: list[str] = []
    # In a thread, because looking up a host name has no time limit.
    asking = Thread(target=lambda: outcome.append(ask(address, seconds)), daemon=True)
    asking.start()
    asking.join(seconds + _GRACE_SECONDS)
    return outcome[0] if outcome else f"no answer within {seconds:g} s"


def _connect(address: str, seconds: float) -> str:
    try:
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
    except (OSError, ValueError) as error:
        return str(getattr(error, "strerror", None) or error)
    return ""


def _request(address: str, seconds: float) -> str:
    import httpx2

    try:
        # Nothing is sent that a certificate would have to protect; the client that follows checks it.
        status = httpx2.head(address, timeout=seconds, verify=False).status_code
    except Exception as error:  # noqa: BLE001 - whatever keeps the request from an answer is the reason
        return str(error) or type(error).__name__
    return f"its proxy answers with status {status}" if status in _PROXY_ERRORS else ""
