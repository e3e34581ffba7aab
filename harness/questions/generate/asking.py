"""One call at a time per thread, several threads: the answers that a set still needs, each in the ledger before it is used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from harness.errors import HarnessError
from harness.questions.generate.client import Client, StoppedError
from harness.questions.generate.dialogue import Settled
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Budget, Price
from harness.questions.generate.prompt import Request
from harness.questions.generate.writing import Waiting, Writing


@dataclass(frozen=True)
class Asking:
    """Asks ``client`` for ``writing``'s missing answers, ``concurrency`` calls at a time.

    ``stopped`` ends the run: calls on their way are waited for, since they are paid for. ``on_change`` is called in the calling thread after every
    passage, ``on_stop`` with the number of calls that are still waited for.
    """

    writing: Writing
    client: Client
    ledger: Ledger
    price: Price
    budget: Budget
    stopped: threading.Event
    concurrency: int
    on_change: Callable[[], None]
    on_stop: Callable[[int], None]

    def run(self, waiting: Sequence[Waiting]) -> None:
        """Asks about ``waiting``, then about what takes the place of rejected ones, until nothing is left to ask.

        Raises what ended the run otherwise: ``ModelError``, ``BudgetReachedError``, ``StoreError``, ``KeyboardInterrupt``. Every answer that
        came back is kept by then.
        """
        on_their_way: dict[Future[Settled], int] = {}
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="asking")
        try:
            to_ask = chain(waiting, _later(self.writing))
            self._fill(pool, on_their_way, to_ask)
            while on_their_way:
                done, _ = wait(on_their_way, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=on_their_way.__getitem__):
                    settled = future.result()
                    self.writing.settle(on_their_way.pop(future), settled)
                    self.on_change()
                self._fill(pool, on_their_way, to_ask)
        except BaseException as error:  # noqa: BLE001 - raised again, once all calls are in
            self._stop(on_their_way)
            raise _first(error, on_their_way) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _fill(
        self,
        pool: ThreadPoolExecutor,
        on_their_way: dict[Future[Settled], int],
        to_ask: Iterator[Waiting | None],
    ) -> None:
        """Keeps the threads busy, with as many passages again ready for those that become free."""
        while len(on_their_way) < 2 * self.concurrency:
            one = next(to_ask)
            if one is None:
                return
            on_their_way[pool.submit(self._settled, one)] = one.number

    def _settled(self, waiting: Waiting) -> Settled:
        """In a thread: asks until the passage is settled."""
        step: Request | Settled = waiting.request
        try:
            while isinstance(step, Request):
                self._ask(step)
                step = self.writing.dialogues.step(waiting.passage)
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

    def _stop(self, on_their_way: dict[Future[Settled], int]) -> None:
        """Nothing new is asked; what is on its way comes in, goes to the ledger, and becomes lines where it can."""
        self.stopped.set()
        open_calls = [future for future in on_their_way if not future.cancel() and not future.done()]
        if open_calls:
            self.on_stop(len(open_calls))
        wait(open_calls)
        with suppress(HarnessError):  # what ended the run is told, not what follows from it
            for future, number in on_their_way.items():
                if not future.cancelled() and future.exception() is None:
                    self.writing.settle(number, future.result())


def _later(writing: Writing) -> Iterator[Waiting | None]:
    """What may be asked about next, and None for as long as that depends on answers on their way."""
    while True:
        yield from writing.begin()
        yield None


def _first(error: BaseException, futures: Iterable[Future[Settled]]) -> BaseException:
    """What ended the run: the other calls then end with ``StoppedError``, and may be met first."""
    if not isinstance(error, StoppedError):
        return error
    others = (future.exception() for future in futures if future.done() and not future.cancelled())
    return next((other for other in others if other and not isinstance(other, StoppedError)), error)
