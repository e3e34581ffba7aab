"""The settings under ``generator``, and a run with them: what is cached is used, the rest is asked for."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from harness.cli.say import complain, say, say_all
from harness.corpus import Loaded
from harness.errors import SettingError, number, share, shown, switch, whole
from harness.files.journal import Journal
from harness.progress import bar
from harness.questions.generate import Prompt
from harness.questions.generate.asking import Asking, Batching
from harness.questions.generate.batches import Batches, unfinished
from harness.questions.generate.choosing import PassageOrder
from harness.questions.generate.client import ClaudeClient, key_of
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Budget, dollars, plan, price_of
from harness.questions.generate.writing import RetryState, Writing
from harness.view.formats import counted


@dataclass(frozen=True, kw_only=True)
class GeneratorSettings:
    """What ``conf/command/generate.yaml`` explains.

    Raises ``SettingError`` for a value that is not allowed.
    """

    n: int
    model: str
    max_overlap: float
    seed: int
    concurrency: int
    batch: bool
    poll: float
    budget_usd: float | None
    price_in: float | None
    price_out: float | None
    max_tokens: int
    timeout: float
    retries: int
    base_url: str | None

    def __post_init__(self) -> None:
        whole(self.n, "generator.n", 1, of="questions")
        whole(self.seed, "generator.seed")
        whole(self.concurrency, "generator.concurrency", 1, 64, of="calls")
        whole(self.max_tokens, "generator.max_tokens", 100, 8192, of="tokens")
        whole(self.retries, "generator.retries", 0, 100, of="tries")
        share(self.max_overlap, "generator.max_overlap")
        number(self.poll, "generator.poll", 0, 3600)
        number(self.timeout, "generator.timeout", 0.001, 3600)
        for name in ("budget_usd", "price_in", "price_out"):
            if getattr(self, name) is not None:
                number(getattr(self, name), f"generator.{name}")
        switch(self.batch, "generator.batch")
        _text(self.model, "generator.model", "the name of a model, such as claude-haiku-4-5")
        address = "an address that begins with http:// or https://"
        if self.base_url is not None:
            _text(self.base_url, "generator.base_url", address, ("http://", "https://"))


def _text(value: object, key: str, allowed: str, begins: tuple[str, ...] = ("",)) -> None:
    if not isinstance(value, str) or not value.strip() or not value.startswith(begins):
        raise SettingError(f"{key} is {shown(value)}; it must be {allowed}.", key=key)


class Session:
    """Uses what is cached, says what the rest costs, and asks. Needs no key before the first call.

    ``journals``: ``golden``, ``ledger`` and ``batches``, all locked by the caller.
    """

    def __init__(
        self, settings: GeneratorSettings, prompt: Prompt, corpus: Loaded, journals: Mapping[str, Journal]
    ) -> None:
        self.settings, self.prompt, self.corpus, self.journals = settings, prompt, corpus, journals
        prices = {"price_in": settings.price_in, "price_out": settings.price_out}
        self.price = price_of(settings.model, **prices, batch=settings.batch)
        by_id = {document.doc_id: document for document in corpus.documents}
        passages = PassageOrder(corpus.documents, settings.seed)
        self.ledger = Ledger(journals["ledger"])
        retries = RetryState(
            prompt, settings.model, settings.max_tokens, settings.max_overlap, by_id, self.ledger
        )
        about = {"model": settings.model, "prompt": prompt.digest, "seed": settings.seed}
        self.writing = Writing(journals["golden"], passages, retries, settings.n, about)
        self.stopped = threading.Event()

    @cached_property
    def client(self) -> ClaudeClient:
        """Made once. Raises ``ModelError`` without a key."""
        settings = self.settings
        return ClaudeClient(
            key_of(os.environ),
            stopped=self.stopped,
            base_url=settings.base_url,
            timeout=settings.timeout,
            retries=settings.retries,
        )

    def write(self, agree: Callable[[], None]) -> None:
        """Asks until the set is complete or no passage is left; before the first call ``agree`` is called.

        Raises what ended it; all answers are cached.
        """
        try:
            self._write(agree)
        except KeyboardInterrupt:
            for sent in unfinished(self.journals["batches"]):
                batch = f"Batch {sent.batch_id}" if sent.batch_id else "A batch that may have been sent"
                count = counted(len(sent.requests), "question")
                complain(f"{batch} ({count}) goes on at the API and is billed; its answers are not lost.")
            raise

    def _write(self, agree: Callable[[], None]) -> None:
        settings = self.settings
        # Answers of batches that an earlier run sent are paid for.
        for sent in unfinished(self.journals["batches"]):
            self._batches().attach(sent)
        waiting = list(self.writing.begin())
        if not waiting:
            return
        requests = [one.request for one in waiting]
        say_all(plan(requests, self.price, settings.model, settings.budget_usd, batch=settings.batch))
        client = self.client  # without a key nobody is asked to confirm
        agree()
        paid = (self.ledger, self.price, Budget(settings.budget_usd, self.ledger.spent))
        with self._progress() as show:
            if settings.batch:
                Batching(self.writing, self._batches(), *paid, show).run(waiting)
            else:
                threads = settings.concurrency
                Asking(self.writing, client, *paid, self.stopped, threads, show, _say_stop).run(waiting)

    def close(self) -> None:
        """Ends the connections."""
        if "client" in vars(self):
            self.client.sdk.close()

    def _batches(self) -> Batches:
        journal, settings = self.journals["batches"], self.settings
        return Batches(self.client, journal, self.ledger, settings.poll, _say_batch, settings.model)

    @contextmanager
    def _progress(self) -> Iterator[Any]:
        with bar("Writing", self.writing.n, "questions") as progress:

            def show() -> None:
                progress.n = self.writing.questions
                rejected, spent = sum(self.writing.rejected.values()), self.ledger.dollars_now
                progress.set_postfix_str(f"{rejected} rejected, {dollars(spent)}")

            yield show


@cache
def _say_batch(batch_id: str, done: int, total: int) -> None:
    """A line for what is polled again and again; each stands once."""
    if not done or done == total:
        say(f"batch      {batch_id}: {done:,} of {total:,} answered")


def _say_stop(calls: int) -> None:
    running = counted(calls, "call is", "calls are")
    complain(f"Stopping. {running} still running; their answers are paid for and will be cached.")
