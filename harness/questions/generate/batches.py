"""The Message Batches API: half the price, answers within a day, and no batch that is paid for twice.

A batch is noted in a journal before it is sent, and its id before it is waited for. A batch without an id is
looked up among the account's batches by its custom ids.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from harness.errors import ModelError
from harness.files.journal import Journal
from harness.questions.generate import Request
from harness.questions.generate.client import ClaudeClient, StoppedError, reply_of
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Price

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

# The API takes 100,000 requests and 256 MB in one batch.
MOST_REQUESTS = 20_000
_KEY_DIGITS = 40
_CLOCKS_DIFFER = timedelta(hours=1)


class _LostBatchError(Exception):
    """A batch was sent and no answer came: it may exist."""


@dataclass
class SentBatch:
    """A batch of ours. ``word`` begins all its custom ids; ``batch_id`` is empty until it is known."""

    word: str
    at: datetime
    requests: dict[str, Request]
    price: Price
    batch_id: str = ""


def unfinished(journal: Journal) -> list[SentBatch]:
    """Batches that were sent, or were about to be, and whose answers are not all in the ledger."""
    sent: dict[str, SentBatch] = {}
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
    """Batches through ``client``, noted in ``journal`` (locked by the caller), answered into ``ledger``.

    ``poll``: seconds between two requests. ``on_poll`` gets the batch's id, requests done, and all requests.
    """

    client: ClaudeClient
    journal: Journal
    ledger: Ledger
    poll: float
    on_poll: Callable[[str, int, int], None]
    model: str
    failed: dict[str, str] = field(default_factory=dict)

    def attach(self, sent: SentBatch) -> bool:
        """Waits for a batch of an earlier run and caches its answers; False when it never reached the API."""
        if not sent.batch_id:
            sent.batch_id = self._found(sent)
            if not sent.batch_id:
                self._over(sent)
                return False
            self.journal.append({"word": sent.word, "batch_id": sent.batch_id})
        self._collect(sent)
        return True

    def run(self, requests: Sequence[Request], price: Price) -> None:
        """Sends ``requests`` as one batch; its answers go to the ledger, the others to ``failed``."""
        sent = SentBatch(secrets.token_hex(6), datetime.now(UTC), {}, price)
        sent.requests = {f"{sent.word}-{request.key[:_KEY_DIGITS]}": request for request in requests}
        self.journal.append(_item(sent))
        sent.batch_id = self._create(sent)
        self.journal.append({"word": sent.word, "batch_id": sent.batch_id})
        self._collect(sent)

    def _create(self, sent: SentBatch) -> str:
        """The id of the new batch. After a lost try, which may have made one, it is looked for first."""
        rows: Any = [{"custom_id": name, "params": request.body} for name, request in sent.requests.items()]

        def create(sdk: Anthropic) -> MessageBatch:
            return sdk.messages.batches.create(requests=rows)

        def on_lost(reason: str) -> None:
            raise _LostBatchError(reason)

        reason = ""
        for _ in range(self.client.retries + 1):
            try:
                return str(self.client.call(create, self.model, on_lost).id)
            except _LostBatchError as error:
                reason = str(error)
            if found := self._found(sent):
                return found
        said = f"The batch could not be sent: {reason}. The same command tries again."
        raise ModelError(said, model=self.model)

    def _collect(self, sent: SentBatch) -> None:
        self._wait(sent.batch_id)
        for row in self._results(sent.batch_id):
            request = sent.requests.get(row.custom_id)
            if request is not None and self.ledger.answer(request) is None:
                self._keep(row, request, sent.price)
        self._over(sent)

    def _keep(self, row: MessageBatchIndividualResponse, request: Request, price: Price) -> None:
        result = row.result
        if result.type == "succeeded":
            reply = reply_of(result.message, request.model, self.client.group)
            self.ledger.record(request, reply, price, batch=True)
            self.failed.pop(request.key, None)
        elif result.type == "errored" and result.error.error.type == "invalid_request_error":
            said = " ".join(result.error.error.message.split())[:200].rstrip(".")
            raise ModelError(
                f"The API refused a request of the batch: {said}. Correct the setting that it names; "
                "all answers so far are cached.",
                model=self.model,
            )
        else:
            self.failed[request.key] = result.type

    def _wait(self, batch_id: str) -> None:
        """Until the batch has ended, however long it takes."""
        while True:
            batch = self._call(lambda sdk: sdk.messages.batches.retrieve(batch_id), batch_id)
            counts = batch.request_counts
            total = sum(counts.model_dump().values())
            self.on_poll(batch_id, total - counts.processing, total)
            if batch.processing_status == "ended":
                return
            if self.client.stopped.wait(self.poll):
                raise StoppedError

    def _results(self, batch_id: str) -> list[MessageBatchIndividualResponse]:
        return list(self._call(lambda sdk: sdk.messages.batches.results(batch_id), batch_id))

    def _found(self, sent: SentBatch) -> str:
        """The id of the batch on the account that has ``sent``'s custom ids, or nothing."""

        def newer(sdk: Anthropic) -> list[MessageBatch]:
            newest_first = sdk.messages.batches.list(limit=100)
            return list(takewhile(lambda batch: batch.created_at >= sent.at - _CLOCKS_DIFFER, newest_first))

        known = {item["batch_id"] for item in self.journal.items() if "batch_id" in item}
        for batch in self._call(newer, sent.word):
            if batch.id in known or sum(batch.request_counts.model_dump().values()) != len(sent.requests):
                continue
            self._wait(batch.id)  # custom ids can be read only when a batch has ended
            if any(row.custom_id in sent.requests for row in self._results(batch.id)):
                return str(batch.id)
        return ""

    def _call(self, call: Callable[[Anthropic], Any], batch: str) -> Any:
        reason = f"The API does not know the batch {batch}, which is noted in {self.journal.path}"
        advice = "Use the key and {group}.base_url that sent it, or give it up: delete that file."
        return self.client.call(call, self.model, unknown=(reason, advice))

    def _over(self, sent: SentBatch) -> None:
        self.journal.append({"word": sent.word, "over": True})


def _item(sent: SentBatch) -> dict[str, Any]:
    """What is needed to put the answers into the ledger, whatever the settings are by then."""
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


def _sent(item: dict[str, Any]) -> SentBatch:
    body = {"model": item["model"], "max_tokens": item["max_tokens"]}
    requests = {
        name: Request(body, passage, item["prompt"], key) for name, (key, passage) in item["requests"].items()
    }
    return SentBatch(item["word"], datetime.fromisoformat(item["at"]), requests, Price(*item["price"]))
