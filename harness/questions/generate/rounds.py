"""The answers that a set still needs, by rounds of batches, each cached before it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import ModelError
from harness.questions.generate import Request
from harness.questions.generate.asking import Work
from harness.questions.generate.batches import MOST_REQUESTS, Batches
from harness.questions.generate.ledger import Ledger
from harness.questions.generate.money import Budget, Price
from harness.questions.generate.writing import Waiting

_FRUITLESS_ROUNDS = 3


@dataclass(frozen=True)
class Batching:
    """Asks for ``writing``'s missing answers through ``batches``.

    ``on_change`` is called after every batch.
    """

    writing: Work
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
                group = self.batches.client.group
                raise ModelError(
                    f"{fruitless} batches in a row brought no answer (requests {reasons}). "
                    f"All answers so far are cached; try again later, or without {group}.batch.",
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
            step = self.writing.step(one)
            if isinstance(step, Request):
                open_ones.append(one._replace(request=step))
            else:
                self.writing.settle(one.number, step)
        return open_ones
