"""Answers that were paid for: found again by their request, added up, never asked for twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from generation_setup import PRICE, PROMPT, good, passages, put

from harness.files.journal import Journal
from harness.questions.generate.ledger import Ledger, Reply

ONE, TWO = passages(2)


def ask(passage, model="claude-haiku-4-5", max_tokens=600):
    return PROMPT.ask(passage, model, max_tokens)


def test_an_answer_is_found_by_its_request_in_the_next_run(tmp_path):
    """What one process paid for, the next one has."""
    put(Ledger(Journal(tmp_path / "l.jsonl")), ask(ONE), "Hello")
    ledger = Ledger(Journal(tmp_path / "l.jsonl"))

    assert ledger.answer(ask(ONE)).text == "Hello"
    assert ledger.answer(ask(TWO)) is None
    assert ledger.answer(ask(ONE, model="claude-haiku-5-5")) is None


def test_entries_of_other_prompts_stand_beside_one_another(tmp_path):
    """A changed prompt, model or passage never takes the place of an answer."""
    ledger = Ledger(Journal(tmp_path / "l.jsonl"))
    other = ask(ONE, model="claude-haiku-5-5")
    put(ledger, ask(ONE), "a")
    put(ledger, other, "b")
    put(ledger, ask(TWO), "c")

    assert [ledger.answer(r).text for r in (ask(ONE), other, ask(TWO))] == ["a", "b", "c"]
    assert len(ledger.journal.items()) == 3


def test_the_first_of_two_answers_counts(tmp_path):
    """A request that was asked again after a kill does not change a question that may be written already."""
    for _ in range(2):
        ledger = Ledger(Journal(tmp_path / "l.jsonl"))
        put(ledger, ask(ONE), "first" if not ledger.spent else "second")

    assert Ledger(Journal(tmp_path / "l.jsonl")).answer(ask(ONE)).text == "first"


def test_an_answer_that_was_cut_off_counts_until_the_limit_is_raised(tmp_path):
    """Raising generator.max_tokens asks only for what was cut off, not for everything."""
    ledger = Ledger(Journal(tmp_path / "l.jsonl"))
    put(ledger, ask(ONE), '{"question": "Wh', stop="max_tokens")
    put(ledger, ask(TWO), "whole")

    assert ledger.answer(ask(ONE)).stop == "max_tokens"
    assert ledger.answer(ask(ONE, max_tokens=900)) is None
    assert ledger.answer(ask(TWO, max_tokens=900)).text == "whole"
    put(ledger, ask(ONE, max_tokens=900), "now whole")
    assert Ledger(ledger.journal).answer(ask(ONE, max_tokens=900)).text == "now whole"


def test_every_answer_is_added_up(tmp_path):
    """Dollars are those of the entry's own price; lost calls count at their worst."""
    ledger = Ledger(Journal(tmp_path / "l.jsonl"))
    # 1,000 tokens in at $1 and 100 out at $5 per million: $0.001 + $0.0005.
    put(ledger, ask(ONE), good(ONE))
    half = replace_price(PRICE, 0.5)
    assert ledger.record(ask(TWO), Reply("x", "end_turn", 1000, 100, "m"), half, batch=True) == pytest.approx(
        0.00075
    )
    ledger.record_lost(ask(TWO), "timeout", 0.01)

    assert Ledger(ledger.journal).spent == ledger.spent == pytest.approx(0.0015 + 0.00075 + 0.01)
    assert (ledger.calls_now, ledger.dollars_now) == (2, pytest.approx(0.00225))


def replace_price(price, share):
    return price._replace(dollars_in=price.dollars_in * share, dollars_out=price.dollars_out * share)


def test_a_key_known_without_its_body_is_the_same_entry(tmp_path):
    """A batch of an earlier run is put away under the keys that it was sent with."""
    ledger = Ledger(Journal(tmp_path / "l.jsonl"))
    short = replace(ask(ONE), body={"model": "claude-haiku-4-5", "max_tokens": 600}, sent_as=ask(ONE).key)
    put(ledger, short, "from a batch")

    assert ledger.answer(ask(ONE)).text == "from a batch"
