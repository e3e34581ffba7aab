"""The settings of calls, and a run with them: what is cached is used, the rest is asked for."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar

from harness.cli.say import complain, say, say_all
from harness.errors import SettingError, number, shown, switch, whole
from harness.files.journal import Journal
from harness.progress import bar
from harness.questions.generate.asking import Asking, Work
from harness.questions.generate.batches import Batches, unfinished
from harness.questions.generate.client import ClaudeClient, key_of
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Budget, Price, dollars, plan, price_of
from harness.questions.generate.rounds import Batching
from harness.view.formats import counted


@dataclass(frozen=True, kw_only=True)
class CallSettings:
    """What ``conf/command/generate.yaml`` explains of calls; ``GROUP``: the group of the settings.

    Raises ``SettingError`` for a value that is not allowed.
    """

    GROUP: ClassVar[str]
    model: str
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
        group = self.GROUP
        whole(self.seed, f"{group}.seed")
        whole(self.concurrency, f"{group}.concurrency", 1, 64, of="calls")
        whole(self.max_tokens, f"{group}.max_tokens", 100, 8192, of="tokens")
        whole(self.retries, f"{group}.retries", 0, 100, of="tries")
        number(self.poll, f"{group}.poll", 0, 3600)
        number(self.timeout, f"{group}.timeout", 0.001, 3600)
        for name in ("budget_usd", "price_in", "price_out"):
            if getattr(self, name) is not None:
                number(getattr(self, name), f"{group}.{name}")
        switch(self.batch, f"{group}.batch")
        _text(self.model, f"{group}.model", "the name of a model, such as claude-haiku-4-5")
        address = "an address that begins with http:// or https://"
        if self.base_url is not None:
            _text(self.base_url, f"{group}.base_url", address, ("http://", "https://"))

    @property
    def price(self) -> Price:
        """The price of the model. Raises ``SettingError`` where it is not known."""
        prices = {"price_in": self.price_in, "price_out": self.price_out}
        return price_of(self.model, **prices, batch=self.batch, group=self.GROUP)


def _text(value: object, key: str, allowed: str, begins: tuple[str, ...] = ("",)) -> None:
    if not isinstance(value, str) or not value.strip() or not value.startswith(begins):
        raise SettingError(f"{key} is {shown(value)}; it must be {allowed}.", key=key)


class Session:
    """The calls of one run about ``work``, with a ``ledger`` and a journal of ``batches``, both locked.

    ``doing`` is what the progress bar says.
    """

    def __init__(
        self, settings: CallSettings, work: Work, ledger: Ledger, batches: Journal, doing: str = "Writing"
    ) -> None:
        self.settings, self.work, self.ledger, self.batches, self.doing = (
            settings, work, ledger, batches, doing,
        )  # fmt: skip
        self.price = settings.price
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
            group=settings.GROUP,
        )

    def run(self, agree: Callable[[], None], tokens_out: Callable[[], int] = lambda: 0) -> None:
        """Asks until the work is done or nothing is left; before the first call ``agree`` is called.

        ``tokens_out``: of all answers, about; 0: of the usual length.

        Raises what ended it; all answers are cached.
        """
        try:
            self._run(agree, tokens_out)
        except KeyboardInterrupt:
            for sent in unfinished(self.batches):
                batch = f"Batch {sent.batch_id}" if sent.batch_id else "A batch that may have been sent"
                count = counted(len(sent.requests), "question")
                complain(f"{batch} ({count}) goes on at the API and is billed; its answers are not lost.")
            raise

    def _run(self, agree: Callable[[], None], tokens_out: Callable[[], int]) -> None:
        settings = self.settings
        # Answers of batches that an earlier run sent are paid for.
        for sent in unfinished(self.batches):
            self._batching().attach(sent)
        waiting = list(self.work.begin())
        if not waiting:
            return
        requests = [one.request for one in waiting]
        limits = settings.model, settings.budget_usd
        say_all(plan(requests, self.price, *limits, batch=settings.batch, tokens_out=tokens_out() or None))
        client = self.client  # without a key nobody is asked to confirm
        agree()
        paid = (
            self.ledger,
            self.price,
            Budget(settings.budget_usd, self.ledger.spent, f"{settings.GROUP}.budget_usd"),
        )
        with self._progress() as show:
            if settings.batch:
                Batching(self.work, self._batching(), *paid, show).run(waiting)
            else:
                threads = settings.concurrency
                Asking(self.work, client, *paid, self.stopped, threads, show, _say_stop).run(waiting)

    def close(self) -> None:
        """Ends the connections."""
        if "client" in vars(self):
            self.client.sdk.close()

    def _batching(self) -> Batches:
        journal, settings = self.batches, self.settings
        return Batches(self.client, journal, self.ledger, settings.poll, _say_batch, settings.model)

    @contextmanager
    def _progress(self) -> Iterator[Any]:
        with bar(self.doing, self.work.n, "questions") as progress:

            def show() -> None:
                progress.n = self.work.questions
                rejected, spent = sum(self.work.rejected.values()), self.ledger.dollars_now
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
