"""The files beside a golden set, and the ledger among them: every answer that was paid for."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import InputError
from harness.files.journal import Journal
from harness.questions.generate import Request
from harness.questions.generate.money import Price


class Reply(NamedTuple):
    """The reply to one call.

    ``stop``: the API's stop reason (``end_turn``, ``max_tokens``, ``refusal``, ...).
    """

    text: str
    stop: str
    tokens_in: int
    tokens_out: int
    message_id: str


class Ledger:
    """The answers in ``journal``, which the caller has locked. Safe for several threads.

    Of two answers to one request (asked again after a kill) the first counts. ``spent``: dollars of the whole
    ledger; ``calls_now`` and ``dollars_now``: of the answers that this object recorded.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._answers: dict[str, dict[str, Any]] = {}
        self._about: dict[str, list[dict[str, Any]]] = {}
        self._writing = threading.Lock()
        self.spent = 0.0
        self.calls_now = 0
        self.dollars_now = 0.0
        for item in journal.items():
            self._take(item)

    def answer(self, request: Request) -> Reply | None:
        """The answer to ``request``, or None.

        One that was cut off by a smaller limit than today's does not count.
        """
        item = self._answers.get(request.key)
        if item is None or (item["stop"] == "max_tokens" and item["max_tokens"] < request.max_tokens):
            return None
        return _reply(item)

    def replies_about(self, word: str, prompt: str, model: str) -> list[tuple[str, Reply]]:
        """All answers about what begins with ``word``, in order, each with the whole of what it is about."""
        items = self._about.get(word, ())
        same = (item for item in tuple(items) if (item["prompt"], item["model"]) == (prompt, model))
        return [(item["passage"], _reply(item)) for item in same]

    def record(self, request: Request, reply: Reply, price: Price, *, batch: bool = False) -> float:
        """Puts an answer on the disk, then gives what it cost in dollars."""
        dollars = round(price.dollars(reply.tokens_in, reply.tokens_out), 9)
        item = self._said_of(request) | {
            "batch": batch,
            "message": reply.message_id,
            "stop": reply.stop,
            "text": reply.text,
            "usage": {"in": reply.tokens_in, "out": reply.tokens_out},
            "price": {"in": price.dollars_in, "out": price.dollars_out},
            "dollars": dollars,
        }
        self._append(item)
        with self._writing:
            self.calls_now += 1
            self.dollars_now += dollars
        return dollars

    def record_lost(self, request: Request, reason: str, at_most: float) -> None:
        """A call whose answer never came; it may have cost up to ``at_most`` dollars."""
        self._append(self._said_of(request) | {"lost": reason, "at_most": round(at_most, 9)})

    def _said_of(self, request: Request) -> dict[str, Any]:
        return {
            "request": request.key,
            "passage": request.passage,
            "prompt": request.prompt,
            "model": request.model,
            "max_tokens": request.max_tokens,
            "at": _now(),
        }

    def _append(self, item: dict[str, Any]) -> None:
        with self._writing:
            self.journal.append(item)
            self._take(item)

    def _take(self, item: dict[str, Any]) -> None:
        """A line's part in the sums. Lines of other versions, with other keys, are passed over."""
        self.spent += float(item.get("dollars") or item.get("at_most") or 0.0)
        if "text" not in item:
            return
        self._about.setdefault(item["passage"].partition(" ")[0], []).append(item)
        known = self._answers.get(item["request"])
        if known is None or known["stop"] == "max_tokens":
            self._answers[item["request"]] = item


def _reply(item: dict[str, Any]) -> Reply:
    usage = item["usage"]
    return Reply(item["text"], item["stop"], usage["in"], usage["out"], item["message"])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def beside(golden: Path, what: str) -> Path:
    """The file of ``what`` beside a golden set: ``golden.ledger.jsonl`` beside ``golden.jsonl``."""
    return golden.with_name(f"{golden.stem}.{what}.jsonl")


def ledgers_at(given: Path) -> list[Path]:
    """The ledgers in a folder, of a golden set, or the file itself.

    Raises ``InputError`` where there is none.
    """
    if given.is_dir():
        found = sorted(given.rglob("*.ledger.jsonl"))
    else:
        own = given if given.name.endswith(".ledger.jsonl") else beside(given, "ledger")
        found = [own] if own.is_file() else []
    if not found:
        raise InputError(
            f"There is no ledger at {given}: no questions were written there "
            "by python -m harness.golden.generate.",
            path=given,
        )
    return found
