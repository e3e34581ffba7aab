"""Calls slow down before a limit is hit."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from harness.questions.generate import pace
from harness.questions.generate.pace import Pace


def headers(kind, limit, remaining, seconds):
    reset = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    head = f"anthropic-ratelimit-{kind}"
    return {f"{head}-limit": str(limit), f"{head}-remaining": str(remaining), f"{head}-reset": reset}


def test_plenty_is_no_reason_to_wait():
    """While more is left than the calls on their way need twice over, nothing slows down."""
    assert pace._step(headers("requests", 1000, 900, 60), "requests", 1, 16) == 0


def test_calls_follow_the_refill():
    """With 10 of 50 requests left and a minute to the reset, one request comes back every 60 / (50 - 10) = 1.5 seconds."""
    assert pace._step(headers("requests", 50, 10, 60), "requests", 1, 16) == pytest.approx(1.5, abs=0.01)
    # 1,000 tokens a call, 2,000 of 50,000 left, full in 60 s: 48 calls' worth in 60 s.
    step = pace._step(headers("input-tokens", 50000, 2000, 60), "input-tokens", 1000, 16)
    assert step == pytest.approx(1.25, abs=0.01)


def test_the_scarcest_limit_decides_and_recovers():
    """The slowest refill of all limits counts, and the next answer with plenty left lifts it."""
    paced = Pace(8, threading.Event())
    paced.learn(headers("requests", 50, 10, 60) | headers("output-tokens", 1000, 10, 60), 100, 10)
    # 990 tokens in 60 s, 10 a call: one call every 0.606 s; requests: one every 1.5 s.
    assert paced._step == pytest.approx(1.5, abs=0.01)

    paced.learn(headers("requests", 50, 49, 1), 100, 10)
    assert paced._step == 0


@pytest.mark.parametrize(
    "given", [{}, {"anthropic-ratelimit-requests-limit": "x"}, headers("requests", 50, 10, -5)]
)
def test_headers_that_make_no_sense_change_nothing(given):
    """A gateway that sends none, or an hour that is over, is no reason to wait."""
    paced = Pace(8, threading.Event())
    paced.learn(given, 100, 10)

    assert paced._step == 0


def test_the_end_of_a_run_ends_every_wait():
    """Nobody waits for a rate limit after Ctrl-C."""
    stopped = threading.Event()
    paced = Pace(8, stopped)
    paced.rest(3600)
    stopped.set()
    paced.wait()
