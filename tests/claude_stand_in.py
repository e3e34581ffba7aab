"""A local server that speaks as much of the Claude API as is used here, counts its calls, and misbehaves when told to."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

KEY = "sk-ant-stand-in-0123456789abcdef"
_TEXT = re.compile(r"<text[^>]*>\n(.*?)\n</text", re.DOTALL)


class Say(NamedTuple):
    """An answer: a text or a finished reply, with the reason for its end."""

    reply: Any
    stop: str = "end_turn"
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


class Fail(NamedTuple):
    """An error of the API."""

    status: int
    kind: str = "api_error"
    message: str = "Something went wrong."
    headers: dict[str, str] = {"retry-after-ms": "1"}  # noqa: RUF012 - never changed


class Cut(NamedTuple):
    """The connection ends without an answer."""


class Hang(NamedTuple):
    """No answer for so long."""

    seconds: float


class Call(NamedTuple):
    """A call as it came in. ``number`` counts all, ``repeat`` those with the same body, both from 0."""

    body: dict[str, Any]
    number: int
    repeat: int

    @property
    def turn(self) -> int:
        """0 for the first question about a passage, 1 for the first repetition."""
        return (len(self.body["messages"]) - 1) // 2


def texts_of(body: dict[str, Any]) -> list[str]:
    """The excerpts that a request is about."""
    return _TEXT.findall(body["messages"][0]["content"])


def sound(body: dict[str, Any]) -> dict[str, Any]:
    """A question in words of its own; the quotes are the first words of each excerpt."""
    texts = texts_of(body)
    quotes = []
    for text in texts:
        some = re.search(r"(?m)^[A-Za-z]\S*(?:[^\S\n]+\S+){4,11}", text) or re.search(
            r"\S+(?:\s+\S+){0,11}", text
        )
        quotes.append(some[0])
    word = hashlib.sha256("".join(texts).encode()).hexdigest()
    people = ("customer", "driver", "colleague", "manager", "visitor", "newcomer", "neighbour", "auditor")
    wishes = ("prefer", "expect", "imagine", "regret", "remember", "plan", "arrange", "postpone")
    who, wish = people[int(word[0], 16) % 8], wishes[int(word[1], 16) % 8]
    return {
        "answerable": True,
        "question": f"What ought some {who} {wish} around affair {int(word[2:7], 16)}?",
        "quotes": quotes,
    }


class ClaudeStandIn:
    """Listens on ``address`` from construction to ``close``.

    ``behave`` says what becomes of a call; None is a sound answer. ``latency`` in seconds. ``calls``: messages asked for by key of their body;
    ``answered``: those whose answer was sent in full. ``batches``: id to its rows and state.
    """

    def __init__(self, latency: float = 0.0, behave: Callable[[Call], Any] = lambda call: None) -> None:
        self.latency, self.behave = latency, behave
        self.calls: Counter[str] = Counter()
        self.answered = 0
        self.at_once = 0
        self.most_at_once = 0
        self.keys: set[str] = set()
        self.batches: dict[str, dict[str, Any]] = {}
        self.polls_until_ended = 1
        self.row: Callable[[str, dict[str, Any]], dict[str, Any] | None] = lambda custom_id, body: None
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"stand_in": self}))
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a caller that was killed is no error of the server's
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def total(self) -> int:
        return sum(self.calls.values())

    def environment(self) -> dict[str, str]:
        """What a process needs to talk to this server and to nothing else."""
        return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.address, "NO_PROXY": "127.0.0.1"}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, body: dict[str, Any]) -> Call:
        with self.lock:
            key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
            made = Call(body, self.total, self.calls[key])
            self.calls[key] += 1
            return made

    def message(self, body: dict[str, Any], said: Say) -> dict[str, Any]:
        text = said.reply if isinstance(said.reply, str) else json.dumps(said.reply)
        return {
            "id": "msg_" + hashlib.sha256(json.dumps(body).encode()).hexdigest()[:12],
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": said.stop,
            "stop_sequence": None,
            "usage": {"input_tokens": len(json.dumps(body)) // 4, "output_tokens": len(text.split())},
        }


class _Handler(BaseHTTPRequestHandler):
    stand_in: ClaudeStandIn
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.stand_in.keys.add(self.headers.get("authorization", ""))
        if self.path == "/v1/messages/batches":
            self._send(200, _create(self.stand_in, body["requests"]))
            return
        call = self.stand_in.call(body)
        with self.stand_in.lock:
            self.stand_in.at_once += 1
            self.stand_in.most_at_once = max(self.stand_in.most_at_once, self.stand_in.at_once)
        time.sleep(self.stand_in.latency)
        with self.stand_in.lock:
            self.stand_in.at_once -= 1
        self._answer(call, self.stand_in.behave(call))

    def _answer(self, call: Call, told: Any) -> None:
        if isinstance(told, Hang):
            time.sleep(told.seconds)
        elif isinstance(told, Cut):
            self.close_connection = True
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"
            )
            self.wfile.flush()
            self.connection.close()
            return
        if isinstance(told, Fail):
            error = {"type": told.kind, "message": told.message}
            self._send(told.status, {"type": "error", "error": error, "request_id": "r"}, told.headers)
            return
        said = told if isinstance(told, Say) else Say(sound(call.body))
        if self._send(200, self.stand_in.message(call.body, said), said.headers):
            with self.stand_in.lock:
                self.stand_in.answered += 1

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].removeprefix("/v1/messages/batches").strip("/")
        if not path:
            newest_first = [_public(self.stand_in, b) for b in reversed(self.stand_in.batches.values())]
            self._send(200, {"data": newest_first, "has_more": False, "first_id": None, "last_id": None})
        elif path.removesuffix("/results") not in self.stand_in.batches:
            self._send(
                404, {"type": "error", "error": {"type": "not_found_error", "message": "no such batch"}}
            )
        elif path.endswith("/results"):
            rows = self.stand_in.batches[path.removesuffix("/results")]["rows"]
            lines = [
                json.dumps({"custom_id": name, "result": _result(self.stand_in, name, body)})
                for name, body in reversed(rows.items())
            ]
            self._send(200, "\n".join(lines) + "\n")
        else:
            batch = self.stand_in.batches[path]
            batch["polls"] += 1
            self._send(200, _public(self.stand_in, batch))

    def _send(self, status: int, content: Any, headers: dict[str, str] | None = None) -> bool:
        is_text = isinstance(content, str)
        data = (content if is_text else json.dumps(content)).encode()
        with suppress(OSError):
            self.send_response(status)
            self.send_header("content-type", "application/x-jsonl" if is_text else "application/json")
            self.send_header("content-length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()
            return True
        self.close_connection = True
        return False


def _create(stand_in: ClaudeStandIn, requests: list[dict[str, Any]]) -> dict[str, Any]:
    rows = {row["custom_id"]: row["params"] for row in requests}
    batch = {"id": f"msgbatch_{len(stand_in.batches):03}", "rows": rows, "polls": 0, "at": datetime.now(UTC)}
    stand_in.batches[batch["id"]] = batch
    return _public(stand_in, batch)


def _public(stand_in: ClaudeStandIn, batch: dict[str, Any]) -> dict[str, Any]:
    is_ended = batch["polls"] > stand_in.polls_until_ended
    number = len(batch["rows"])
    return {
        "id": batch["id"],
        "type": "message_batch",
        "processing_status": "ended" if is_ended else "in_progress",
        "request_counts": {
            "processing": 0 if is_ended else number,
            "succeeded": number if is_ended else 0,
            "errored": 0,
            "canceled": 0,
            "expired": 0,
        },
        "created_at": batch["at"].isoformat(),
        "expires_at": batch["at"].isoformat(),
        "ended_at": None,
        "results_url": f"{stand_in.address}/v1/messages/batches/{batch['id']}/results" if is_ended else None,
    }


def _result(stand_in: ClaudeStandIn, name: str, body: dict[str, Any]) -> dict[str, Any]:
    told = stand_in.row(name, body)
    if told is not None:
        return told
    call = stand_in.call(body)
    said = stand_in.behave(call)
    stand_in.answered += 1
    return {
        "type": "succeeded",
        "message": stand_in.message(body, said if isinstance(said, Say) else Say(sound(body))),
    }
