"""Every answer that was paid for, by the request that it answers: nothing is asked twice."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from harness.files.journal import Journal
from harness.questions.generate.money import Price
from harness.questions.generate.prompt import Request


class Reply(NamedTuple):
    """What came back for one call. ``stop``: why the answer ended, in the API's word (``end_turn``, ``max_tokens``, ``refusal``, ...)."""

    text: str
    stop: str
    tokens_in: int
    tokens_out: int
    message_id: str


class Answer(NamedTuple):
    """An answer out of the ledger."""

    text: str
    stop: str


class Ledger:
    """The answers in ``journal``, which is held by the caller (``journal.locked``). May be used by several threads.

    A request that was answered twice (asked again after a kill) keeps its first answer. ``spent``: dollars of the whole ledger;
    ``calls_now`` and ``dollars_now``: of the answers that this object recorded.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._answers: dict[str, dict[str, Any]] = {}
        self._writing = threading.Lock()
        self.spent = 0.0
        self.calls_now = 0
        self.dollars_now = 0.0
        self._by_passage: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
        for item in journal.items():
            self._take(item)

    def answer(self, request: Request) -> Answer | None:
        """The answer to ``request``, or None. One that was cut off by a smaller limit than today's does not count."""
        item = self._answers.get(request.key)
        if item is None or (item["stop"] == "max_tokens" and item["max_tokens"] < request.max_tokens):
            return None
        return Answer(item["text"], item["stop"])

    def record(self, request: Request, reply: Reply, price: Price, *, batch: bool = False) -> float:
        """Puts an answer on the disk, then gives what it cost in dollars."""
        dollars = round(price.dollars(reply.tokens_in, reply.tokens_out), 9)
        item = self._about(request) | {
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
        """A call whose answer never came; it may have been paid for, ``at_most`` so many dollars."""
        self._append(self._about(request) | {"lost": reason, "at_most": round(at_most, 9)})

    def record_saved(self, answers: int, dollars: float) -> None:
        """So many answers of earlier runs were used again, which cost so much then."""
        self._append({"at": _now(), "saved": round(dollars, 9), "answers": answers})

    def kept(self, passages: Iterable[str], prompt: str, model: str) -> tuple[int, float]:
        """How many answers there are about these passages, and what they cost."""
        costs = [cost for passage in passages for cost in self._by_passage.get((passage, prompt, model), ())]
        return len(costs), sum(costs)

    def _about(self, request: Request) -> dict[str, Any]:
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
        """A line's part in the sums. Lines of later versions with other keys are passed over."""
        self.spent += float(item.get("dollars") or item.get("at_most") or 0.0)
        if "text" not in item:
            return
        known = self._answers.get(item["request"])
        if known is None or known["stop"] == "max_tokens":
            self._answers[item["request"]] = item
        self._by_passage[item["passage"], item["prompt"], item["model"]].append(float(item["dollars"]))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
