"""The answers that a set still needs, by single calls, each cached before it is used."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

from harness.errors import HarnessError
from harness.questions.generate import Request
from harness.questions.generate.client import ClaudeClient, StoppedError
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Budget, Price
from harness.questions.generate.writing import Waiting


class Work(Protocol):
    """What answers are asked for: pieces of work, each of which is settled by the answers in the ledger.

    ``n``: pieces that are wanted; ``questions``: those that are certain; ``rejected``: the others by reason.
    """

    n: int
    rejected: Counter[str]

    @property
    def questions(self) -> int:
        """Pieces that are certain."""

    def begin(self) -> Iterator[Waiting]:
        """Pieces that may be asked about now; ends when the rest depends on running calls."""

    def step(self, waiting: Waiting) -> Any:
        """The next ``Request`` whose answer is missing, or how the piece was settled. Called in threads."""

    def settle(self, number: int, settled: Any) -> None:
        """The end of the calls about piece ``number``."""


@dataclass(frozen=True)
class Asking:
    """Asks ``client`` for ``writing``'s missing answers, ``concurrency`` calls at a time.

    ``stopped`` ends the run: running calls are waited for, since they are paid for. ``on_change`` is called
    in the calling thread after every passage, ``on_stop`` with the number of calls that are still running.
    """

    writing: Work
    client: ClaudeClient
    ledger: Ledger
    price: Price
    budget: Budget
    stopped: threading.Event
    concurrency: int
    on_change: Callable[[], None]
    on_stop: Callable[[int], None]

    def run(self, waiting: Sequence[Waiting]) -> None:
        """Asks about ``waiting``, then about the passages that replace rejected ones, until none is left.

        Raises what ended the run otherwise (``ModelError``, ``BudgetReachedError``, ``StoreError``,
        ``KeyboardInterrupt``), when every answer that came is cached.
        """
        running: dict[Future[Any], int] = {}
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="asking")
        try:
            to_ask = chain(waiting, _later(self.writing))
            self._fill(pool, running, to_ask)
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=running.__getitem__):
                    settled = future.result()
                    self.writing.settle(running.pop(future), settled)
                    self.on_change()
                self._fill(pool, running, to_ask)
        except BaseException as error:  # noqa: BLE001 - raised again, once all calls are in
            self._stop(running)
            raise _first(error, running) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _fill(
        self, pool: ThreadPoolExecutor, running: dict[Future[Any], int], to_ask: Iterator[Waiting | None]
    ) -> None:
        """Keeps the threads busy, and as many passages ready for those that become free."""
        while len(running) < 2 * self.concurrency:
            one = next(to_ask)
            if one is None:
                return
            running[pool.submit(self._settled, one)] = one.number

    def _settled(self, waiting: Waiting) -> Any:
        """In a thread: asks until the passage is settled."""
        step: Any = waiting.request
        try:
            while isinstance(step, Request):
                self._ask(step)
                step = self.writing.step(waiting)
        except BaseException:
            self.stopped.set()
            raise
        return step

    def _ask(self, request: Request) -> None:
        if self.stopped.is_set():
            raise StoppedError
        worst, cost = self.price.worst(request), 0.0
        self.budget.reserve(worst)
        try:

            def on_lost(reason: str) -> None:
                nonlocal cost
                cost += worst
                self.ledger.record_lost(request, reason, worst)

            reply = self.client.ask(request, on_lost)
            cost += self.ledger.record(request, reply, self.price)
        finally:
            self.budget.settle(worst, cost)

    def _stop(self, running: dict[Future[Any], int]) -> None:
        """Asks nothing new, and waits for the running calls, which go to the ledger."""
        self.stopped.set()
        open_calls = [future for future in running if not future.cancel() and not future.done()]
        if open_calls:
            self.on_stop(len(open_calls))
        wait(open_calls)
        with suppress(HarnessError):  # what ended the run is told, not what follows from it
            for future, number in running.items():
                if not future.cancelled() and future.exception() is None:
                    self.writing.settle(number, future.result())


def _later(writing: Work) -> Iterator[Waiting | None]:
    """What may be asked about next, and None while that depends on running calls."""
    while True:
        yield from writing.begin()
        yield None


def _first(error: BaseException, futures: Iterable[Future[Any]]) -> BaseException:
    """What ended the run: other calls then end with ``StoppedError``, which may be seen first."""
    if not isinstance(error, StoppedError):
        return error
    others = (future.exception() for future in futures if future.done() and not future.cancelled())
    return next((other for other in others if other and not isinstance(other, StoppedError)), error)
