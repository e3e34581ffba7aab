"""The Message Batches API: half the price, answers within a day, and no batch that is paid for twice.

What is about to be sent stands in a journal before it is sent, and the batch's id before it is waited for. A start that finds a batch
without an id looks it up among the account's batches: every custom id begins with a word that only that batch has.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from harness.errors import ModelError
from harness.files.journal import Journal
from harness.questions.generate.client import ClaudeClient, StoppedError, reply_of
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Price
from harness.questions.generate.prompt import Request

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

# The API takes 100,000 requests and 256 MB in one batch.
MOST_REQUESTS = 20_000
_KEY_DIGITS = 40
_CLOCKS_DIFFER = timedelta(hours=1)


@dataclass
class Sent:
    """A batch of ours. ``word`` begins all its custom ids; ``batch_id`` is empty until it is known."""

    word: str
    at: datetime
    requests: dict[str, Request]
    price: Price
    batch_id: str = ""


def unfinished(journal: Journal) -> list[Sent]:
    """Batches that were sent, or were about to be, and whose answers are not all in the ledger."""
    sent: dict[str, Sent] = {}
    for item in journal.items():
        if "requests" in item:
            sent[item["word"]] = _sent(item)
        elif "batch_id" in item:
            sent[item["word"]].batch_id = item["batch_id"]
        else:
            del sent[item["word"]]
    return list(sent.values())


@dataclass
class Batches:
    """Batches through ``client``, remembered in ``journal`` (held by the caller), their answers put into ``ledger``.

    ``poll``: seconds between two looks. ``on_poll`` is told the batch's id, and how many of its requests are done, of how many.
    """

    client: ClaudeClient
    journal: Journal
    ledger: Ledger
    poll: float
    on_poll: Callable[[str, int, int], None]
    model: str
    failed: dict[str, str] = field(default_factory=dict)

    def attach(self, sent: Sent) -> bool:
        """Waits for a batch of an earlier run and keeps its answers; False when it never reached the API."""
        if not sent.batch_id:
            sent.batch_id = self._found(sent)
            if not sent.batch_id:
                self._over(sent)
                return False
            self.journal.append({"word": sent.word, "batch_id": sent.batch_id})
        self._collect(sent)
        return True

    def run(self, requests: Sequence[Request], price: Price) -> None:
        """Sends ``requests`` as one batch, waits for it, and puts its answers into the ledger. Some may have failed: see ``failed``."""
        sent = Sent(secrets.token_hex(6), datetime.now(UTC), {}, price)
        sent.requests = {f"{sent.word}-{request.key[:_KEY_DIGITS]}": request for request in requests}
        self.journal.append(_item(sent))
        sent.batch_id = self._create(sent)
        self.journal.append({"word": sent.word, "batch_id": sent.batch_id})
        self._collect(sent)

    def _create(self, sent: Sent) -> str:
        rows: Any = [{"custom_id": name, "params": request.body} for name, request in sent.requests.items()]
        is_sent = False

        def create() -> str:
            # An answer that got lost may have left a batch behind.
            found = self._found(sent) if is_sent else ""
            return found or str(self.client.sdk.messages.batches.create(requests=rows).id)

        def on_lost(_reason: str) -> None:
            nonlocal is_sent
            is_sent = True

        return str(self.client.patiently(create, self.model, on_lost))

    def _collect(self, sent: Sent) -> None:
        self._wait(sent.batch_id)
        for row in self._rows(sent.batch_id):
            request = sent.requests.get(row.custom_id)
            if request is not None and self.ledger.answer(request) is None:
                self._keep(row, request, sent.price)
        self._over(sent)

    def _keep(self, row: MessageBatchIndividualResponse, request: Request, price: Price) -> None:
        result = row.result
        if result.type == "succeeded":
            self.ledger.record(request, reply_of(result.message, request.model), price, batch=True)
            self.failed.pop(request.key, None)
        elif result.type == "errored" and result.error.error.type == "invalid_request_error":
            raise ModelError(
                f"The API refused a request of the batch: {' '.join(result.error.error.message.split())[:200].rstrip('.')}. Correct that; "
                "everything answered so far is kept.",
                model=self.model,
            )
        else:
            self.failed[request.key] = result.type

    def _wait(self, batch_id: str) -> None:
        """Until the batch has ended, however long it takes."""
        while True:
            batch = self._call(lambda: self.client.sdk.messages.batches.retrieve(batch_id))
            counts = batch.request_counts
            total = sum(counts.model_dump().values())
            self.on_poll(batch_id, total - counts.processing, total)
            if batch.processing_status == "ended":
                return
            if self.client.pace.stopped.wait(self.poll):
                raise StoppedError

    def _rows(self, batch_id: str) -> Iterator[MessageBatchIndividualResponse]:
        yield from self._call(lambda: list(self.client.sdk.messages.batches.results(batch_id)))

    def _found(self, sent: Sent) -> str:
        """The id of the batch on the account that has ``sent``'s custom ids, or nothing."""
        known = {item["batch_id"] for item in self.journal.items() if "batch_id" in item}
        for batch in self._call(lambda: list(self._since(sent.at - _CLOCKS_DIFFER))):
            total = sum(batch.request_counts.model_dump().values())
            if batch.id in known or total != len(sent.requests):
                continue
            self._wait(batch.id)  # custom ids can be read only when a batch has ended
            if any(row.custom_id in sent.requests for row in self._rows(batch.id)):
                return str(batch.id)
        return ""

    def _since(self, moment: datetime) -> Iterator[MessageBatch]:
        for batch in self.client.sdk.messages.batches.list(limit=100):  # the newest first
            if batch.created_at < moment:
                return
            yield batch

    def _call(self, call: Callable[[], Any]) -> Any:
        return self.client.patiently(call, self.model, lambda _reason: None)

    def _over(self, sent: Sent) -> None:
        self.journal.append({"word": sent.word, "over": True})


def _item(sent: Sent) -> dict[str, Any]:
    """Enough to put the answers into the ledger, whatever the settings are by then; bodies are not needed for that."""
    some = next(iter(sent.requests.values()))
    return {
        "word": sent.word,
        "at": sent.at.isoformat(),
        "model": some.model,
        "prompt": some.prompt,
        "max_tokens": some.max_tokens,
        "price": list(sent.price),
        "requests": {name: [request.key, request.passage] for name, request in sent.requests.items()},
    }


def _sent(item: dict[str, Any]) -> Sent:
    body = {"model": item["model"], "max_tokens": item["max_tokens"]}
    requests = {
        name: Request(body, passage, item["prompt"], key) for name, (key, passage) in item["requests"].items()
    }
    return Sent(item["word"], datetime.fromisoformat(item["at"]), requests, Price(*item["price"]))
