"""The answers that a set still needs, by single calls or by batches, each cached before it is used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from harness.errors import HarnessError, ModelError
from harness.questions.generate import Request
from harness.questions.generate.batches import MOST_REQUESTS, Batches
from harness.questions.generate.client import ClaudeClient, StoppedError
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Budget, Price
from harness.questions.generate.writing import Settled, Waiting, Writing

_FRUITLESS_ROUNDS = 3


@dataclass(frozen=True)
class Asking:
    """Asks ``client`` for ``writing``'s missing answers, ``concurrency`` calls at a time.

    ``stopped`` ends the run: running calls are waited for, since they are paid for. ``on_change`` is called
    in the calling thread after every passage, ``on_stop`` with the number of calls that are still running.
    """

    writing: Writing
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
        running: dict[Future[Settled], int] = {}
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
        self, pool: ThreadPoolExecutor, running: dict[Future[Settled], int], to_ask: Iterator[Waiting | None]
    ) -> None:
        """Keeps the threads busy, and as many passages ready for those that become free."""
        while len(running) < 2 * self.concurrency:
            one = next(to_ask)
            if one is None:
                return
            running[pool.submit(self._settled, one)] = one.number

    def _settled(self, waiting: Waiting) -> Settled:
        """In a thread: asks until the passage is settled."""
        step: Request | Settled = waiting.request
        try:
            while isinstance(step, Request):
                self._ask(step)
                step = self.writing.retries.step(waiting.passage)
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

    def _stop(self, running: dict[Future[Settled], int]) -> None:
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


def _later(writing: Writing) -> Iterator[Waiting | None]:
    """What may be asked about next, and None while that depends on running calls."""
    while True:
        yield from writing.begin()
        yield None


def _first(error: BaseException, futures: Iterable[Future[Settled]]) -> BaseException:
    """What ended the run: other calls then end with ``StoppedError``, which may be seen first."""
    if not isinstance(error, StoppedError):
        return error
    others = (future.exception() for future in futures if future.done() and not future.cancelled())
    return next((other for other in others if other and not isinstance(other, StoppedError)), error)


@dataclass(frozen=True)
class Batching:
    """Asks for ``writing``'s missing answers through ``batches``.

    ``on_change`` is called after every batch.
    """

    writing: Writing
    batches: Batches
    ledger: Ledger
    price: Price
    budget: Budget
    on_change: Callable[[], None]

    def run(self, begun: Sequence[Waiting]) -> None:
        """Asks about ``begun``, then about the passages that replace rejected ones; repeats what failed.

        Raises ``ModelError`` when nothing comes back several times in a row, and what a call raises.
        """
        waiting = list(begun)
        fruitless = 0
        while waiting:
            before = {one.request.key for one in waiting}
            self._ask(waiting)
            waiting = [*self._open(waiting), *self.writing.begin()]
            self.on_change()
            fruitless = fruitless + 1 if before <= {one.request.key for one in waiting} else 0
            if fruitless == _FRUITLESS_ROUNDS:
                reasons = ", ".join(sorted(set(self.batches.failed.values())))
                raise ModelError(
                    f"{fruitless} batches in a row brought no answer (requests {reasons}). "
                    "All answers so far are cached; try again later, or without generator.batch.",
                    model=self.batches.model,
                )

    def _ask(self, waiting: Sequence[Waiting]) -> None:
        """Sends as many requests as the budget allows."""
        chosen: list[Request] = []
        worst = 0.0
        for one in waiting[:MOST_REQUESTS]:
            cost = self.price.worst(one.request)
            if chosen and not self.budget.fits(worst + cost):
                break
            chosen.append(one.request)
            worst += cost
        self.budget.reserve(worst)
        before = self.ledger.spent
        try:
            self.batches.run(chosen, self.price)
        finally:
            self.budget.settle(worst, self.ledger.spent - before)

    def _open(self, waiting: Sequence[Waiting]) -> list[Waiting]:
        """Those that must be asked again, each with its next request."""
        open_ones = []
        for one in waiting:
            step = self.writing.retries.step(one.passage)
            if isinstance(step, Settled):
                self.writing.settle(one.number, step)
            else:
                open_ones.append(one._replace(request=step))
        return open_ones
