"""What calls cost: prices, a plan, an upper bound for each call, and a budget."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from omegaconf import OmegaConf

from harness.errors import SettingError
from harness.paths import conf_folder
from harness.questions.generate import Request

_MILLION = 1_000_000
# The form of the answer is put before the request as text of the API's own.
_TOKENS_BESIDE = 500
_USUAL_ANSWER = 90  # tokens: a question of 15 words and a quote of 25, in JSON
_OTHER_CHARS_PER_TOKEN = 2.7


class Price(NamedTuple):
    """Dollars per million tokens (a batch's discount included), the table's date, characters per token."""

    dollars_in: float
    dollars_out: float
    date: str
    chars_per_token: float

    def dollars(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.dollars_in + tokens_out * self.dollars_out) / _MILLION

    def worst(self, request: Request) -> float:
        """Dollars that a call can't exceed: a token has at least one byte, and the answer its limit."""
        return self.dollars(len(_text(request).encode()) + _TOKENS_BESIDE, request.max_tokens)


def price_of(
    model: str,
    *,
    price_in: float | None = None,
    price_out: float | None = None,
    batch: bool = False,
    group: str = "generator",
) -> Price:
    """The price of ``model`` by ``conf/prices.yaml``, or as given; ``group`` of the settings, for messages.

    Raises ``SettingError`` where neither says it.
    """
    table = OmegaConf.load(conf_folder() / "prices.yaml")
    listed = table.models.get(model) or table.models.get(re.sub(r"-\d{8}$", "", model))
    if (price_in is None) != (price_out is None):
        missing = "price_in" if price_in is None else "price_out"
        raise SettingError(
            f"{group}.{missing} is missing; give both prices, or neither.", key=f"{group}.{missing}"
        )
    if listed is None and price_in is None:
        known = ", ".join(sorted(map(str, table.models)))
        raise SettingError(
            f"{group}.model is {model}, and conf/prices.yaml has no price for it (it has: {known}). "
            f"Give {group}.price_in=DOLLARS and {group}.price_out=DOLLARS, per million tokens.",
            key=f"{group}.model",
        )
    chars = float(listed.chars_per_token) if listed else _OTHER_CHARS_PER_TOKEN
    share = float(table.batch) if batch else 1.0
    dollars_in = float(listed["in"]) if price_in is None else price_in
    dollars_out = float(listed["out"]) if price_out is None else price_out
    date = str(table.date) if price_in is None else "given"
    return Price(dollars_in * share, dollars_out * share, date, chars)


class BudgetReachedError(SettingError):
    """The next call could exceed the budget."""


class Budget:
    """Dollars that may be spent, ``spent`` before included; ``limit`` None: unlimited.

    May be used by several threads.

    What is in flight counts at its worst: the limit holds whatever comes back. ``key``: the setting's name.
    """

    def __init__(self, limit: float | None, spent: float, key: str = "generator.budget_usd") -> None:
        self.limit, self.key = limit, key
        self.spent = spent
        self._in_flight = 0.0
        self._calls = 0
        self._changed = threading.Condition()

    def fits(self, dollars: float) -> bool:
        """Whether so much more could be spent now."""
        return self.limit is None or self.spent + self._in_flight + dollars <= self.limit

    def reserve(self, dollars: float) -> None:
        """Reserves the cost of a call; waits for running calls where they decide whether it fits.

        Raises ``BudgetReachedError`` when it does not fit.
        """
        with self._changed:
            while not self.fits(dollars):
                if not self._calls:
                    raise BudgetReachedError(self._reached(dollars), key=self.key)
                self._changed.wait()
            self._in_flight += dollars
            self._calls += 1

    def settle(self, reserved: float, spent: float) -> None:
        """A call has come back: what it really cost takes the place of what was reserved."""
        with self._changed:
            self._calls -= 1
            self._in_flight = self._in_flight - reserved if self._calls else 0.0
            self.spent += spent
            self._changed.notify_all()

    def _reached(self, dollars: float) -> str:
        return (
            f"{self.key} is {self.limit:g}; this set has cost ${self.spent:.4f} so far, "
            f"and the next call could cost up to ${dollars:.4f}. "
            f"All answers so far are cached; raise {self.key} to continue."
        )


def _text(request: Request) -> str:
    """All text that is sent."""
    return (
        str(request.body["system"])
        + "".join(str(turn["content"]) for turn in request.body["messages"])
        + json.dumps(request.body["output_config"])
    )


def plan(
    requests: Sequence[Request],
    price: Price,
    model: str,
    budget: float | None,
    *,
    batch: bool,
    tokens_out: int | None = None,
) -> Iterator[str]:
    """Calls, tokens and dollars before the first call.

    Tokens come from characters; answers have the usual length unless ``tokens_out`` is given. Calls that
    repeat a rejected answer come on top.
    """
    how = "one batch, answered within a day" if batch else "one by one"
    yield f"calls      {len(requests):,} to {model}, {how}; rejected answers are asked for once more"
    tokens_in = round(sum(len(_text(request)) for request in requests) / price.chars_per_token)
    tokens_out = _USUAL_ANSWER * len(requests) if tokens_out is None else tokens_out
    yield f"tokens     about {tokens_in:,} in and {tokens_out:,} out"
    since = "as given" if price.date == "given" else f"as of {price.date}"
    half = ", half for a batch" if batch else ""
    yield (
        f"price      about {dollars(price.dollars(tokens_in, tokens_out))} (${price.dollars_in:g} and "
        f"${price.dollars_out:g} per million tokens, {since}{half})"
    )
    if budget is not None:
        limit = dollars(budget)
        yield f"budget     {limit} for this set in all; no call is made that could exceed it"


def dollars(amount: float) -> str:
    """Dollars, with as many digits as say something."""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"
