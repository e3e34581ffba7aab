"""What calls cost: the table, the estimate, the bound, the budget that holds under any number of threads."""

from __future__ import annotations

import random
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from generation_setup import PRICE, PROMPT, passages

from harness.errors import SettingError
from harness.questions.generate.money import Budget, BudgetReachedError, dollars, plan, price_of


def test_the_table_knows_the_default_model():
    """$1 and $5 per million tokens, half of it in a batch; a dated name is the same model."""
    price = price_of("claude-haiku-4-5")
    dated = price_of("claude-haiku-4-5-20251001", batch=True)

    assert (price.dollars_in, price.dollars_out) == (1.0, 5.0)
    assert (dated.dollars_in, dated.dollars_out) == (0.5, 2.5)
    # 1,200 tokens in and 90 out: $0.0012 + $0.00045.
    assert price.dollars(1200, 90) == pytest.approx(0.00165)


def test_a_model_without_a_price_needs_one():
    """No call is made at a price that nobody knows."""
    with pytest.raises(
        SettingError, match=r"no price for it .*claude-haiku-4-5.* generator\.price_in=DOLLARS"
    ):
        price_of("claude-next")

    assert price_of("claude-next", price_in=2.0, price_out=8.0)[:3] == (2.0, 8.0, "given")
    assert price_of("claude-haiku-4-5", price_in=0.0, price_out=0.0).dollars(10**6, 10**6) == 0
    with pytest.raises(SettingError, match=r"generator\.price_out is missing"):
        price_of("claude-next", price_in=2.0)


def test_the_bound_is_above_the_estimate():
    """A token has at least one byte: the worst case is never below what is likely."""
    requests = [PROMPT.ask(passage, "claude-haiku-4-5", 600) for passage in passages()]
    calls, tokens, price, *_ = plan(requests, PRICE, "claude-haiku-4-5", 5.0, batch=False)
    tokens_in, tokens_out = (int(n.replace(",", "")) for n in re.findall(r"[\d,]+", tokens))
    likely = PRICE.dollars(tokens_in, tokens_out)

    assert calls.startswith("calls      6 to claude-haiku-4-5")
    assert f"about {dollars(likely)} (" in price
    assert sum(map(PRICE.worst, requests)) > 2 * likely


def test_a_budget_holds_whatever_comes_back():
    """At no moment can more be spent than the limit: calls on their way count at their worst."""
    chance = random.Random(3)
    budget = Budget(1.0, 0.25)
    costs = [chance.random() * 0.03 for _ in range(400)]

    def call(cost):
        with suppress(BudgetReachedError):
            budget.reserve(0.03)
            assert budget.spent + budget._in_flight <= 1.0 + 1e-12
            budget.settle(0.03, cost)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(call, costs))

    # All calls together would cost about $6; the rest is less than the worst case of one call.
    assert 1.0 - 0.03 <= budget.spent <= 1.0
    with pytest.raises(BudgetReachedError, match=r"budget_usd is 1; .*could cost up to \$0\.03"):
        budget.reserve(0.03)


def test_calls_on_their_way_count_at_their_worst():
    """What is in flight may cost its worst; once it has come back cheaper, a call that waited for it goes on."""
    budget = Budget(1.0, 0.9)
    for _ in range(3):
        budget.reserve(0.03)
    waiting = threading.Thread(target=budget.reserve, args=(0.03,), daemon=True)
    waiting.start()

    assert not budget.fits(0.03)  # 0.9 + 3 x 0.03 + 0.03 is above 1
    budget.settle(0.03, 0.001)
    waiting.join()
    assert not budget.fits(0.03)


def test_no_limit_is_no_limit():
    """Without generator.budget_usd nothing is held back."""
    budget = Budget(None, 5.0)
    budget.reserve(1e6)

    assert budget.fits(1e9)


def test_what_was_spent_before_counts():
    """The budget is the set's, not the run's: killing and starting again never spends more."""
    with pytest.raises(BudgetReachedError, match=r"cost \$0\.9900 so far"):
        Budget(1.0, 0.99).reserve(0.02)
