"""Every way in which a call can fail, each with its own sentence, against a real server."""

from __future__ import annotations

import threading
import traceback

import pytest
from claude_stand_in import KEY, ClaudeStandIn, Cut, Fail, Hang, Say
from generation_setup import PROMPT, passages

from harness.errors import ModelError
from harness.questions.generate.client import ClaudeClient, StoppedError, key_of

REQUEST = PROMPT.ask(passages(1)[0], "claude-haiku-4-5", 600)


@pytest.fixture(autouse=True)
def _no_other_credentials(tmp_path, monkeypatch):
    """Neither the user's key nor a proxy takes part."""
    import os

    for name in list(os.environ):
        if name.startswith("ANTHROPIC_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


MADE = []


@pytest.fixture(autouse=True)
def _connections_are_closed():
    yield
    while MADE:
        MADE.pop().sdk.close()


def client(address, retries=3, timeout=10.0):
    MADE.append(
        ClaudeClient(
            {"api_key": KEY}, stopped=threading.Event(), base_url=address, timeout=timeout, retries=retries
        )
    )
    return MADE[-1]


def ask(behave, lost=None, **settings):
    """The reply of a server that behaves so, with the number of calls that it got."""
    with ClaudeStandIn(behave=behave) as server:
        try:
            return client(server.address, **settings).ask(
                REQUEST, (lost if lost is not None else []).append
            ), server.total
        except ModelError as error:
            return error, server.total


def test_a_reply_has_its_text_and_its_tokens():
    """Text, reason of the end and usage come back; the key goes where the API wants it."""
    with ClaudeStandIn(behave=lambda call: Say("Hello you", "end_turn")) as server:
        reply = client(server.address).ask(REQUEST, [].append)

        assert (reply.text, reply.stop, reply.tokens_out) == ("Hello you", "end_turn", 2)
        assert reply.tokens_in > 0
        assert server.keys == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("fail", "said"),
    [
        (
            Fail(401, "authentication_error", "invalid x-api-key"),
            "does not know the key (401). Check ANTHROPIC_API_KEY",
        ),
        (
            Fail(400, "invalid_request_error", "Your credit balance is too low to access the API."),
            "no credit left (400)",
        ),
        (Fail(402, "billing_error", "Pay."), "no credit left (402)"),
        (Fail(403, "permission_error", "No."), "may not use claude-haiku-4-5 (403)"),
        (Fail(404, "not_found_error", "model: x"), "no model claude-haiku-4-5 (404)"),
        (Fail(413, "request_too_large", "Large."), "too large (413)"),
        (
            Fail(400, "invalid_request_error", "messages: odd\nline."),
            "refused the request (400): messages: odd line.",
        ),
    ],
)
def test_what_does_not_pass_ends_at_once(fail, said):
    """No second call for what a second call can't mend; the message says what to do, and that nothing is lost."""
    error, calls = ask(lambda call: fail)

    assert said in str(error)
    assert "All answers so far are cached" in str(error)
    assert calls == 1


@pytest.mark.parametrize(
    "trouble", [Fail(429, "rate_limit_error"), Fail(529, "overloaded_error"), Fail(500), Fail(503), Cut()]
)
def test_what_passes_is_tried_again(trouble):
    """Two failures cost two more calls and nothing else."""
    reply, calls = ask(lambda call: trouble if call.number < 2 else Say("at last"))

    assert (reply.text, calls) == ("at last", 3)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (
            Fail(429, "rate_limit_error"),
            "The rate limit is reached (429) after 2 tries. Lower generator.concurrency",
        ),
        (Fail(529, "overloaded_error"), "The API is overloaded (529) after 2 tries"),
        (Fail(500), "The API failed (500) after 2 tries"),
        (Cut(), "The connection was cut before the answer came after 2 tries"),
    ],
)
def test_trouble_that_stays_has_its_own_sentence(trouble, said):
    """After the last try the run ends, with what it was."""
    error, calls = ask(lambda call: trouble, retries=1)

    assert said in str(error)
    assert calls == 2


def test_a_timeout_is_told_as_a_call_that_may_be_paid_for():
    """An answer that took too long may be on the bill, and is counted; so is one that was cut."""
    lost = []
    error, _ = ask(lambda call: Hang(0.5), lost, retries=0, timeout=0.1)
    ask(lambda call: Cut(), lost, retries=0)

    assert "No answer came in time. Raise generator.timeout" in str(error)
    assert lost == ["No answer came in time", "The connection was cut before the answer came"]


def test_every_lost_try_is_told():
    """The SDK repeats a call by itself; each try whose answer was cut may be on the bill."""
    lost = []
    reply, calls = ask(lambda call: Cut() if call.number < 2 else Say("at last"), lost, retries=2)

    assert (reply.text, calls, len(lost)) == ("at last", 3, 2)


def test_no_server_is_no_cost():
    """Where nobody listens nothing was paid for."""
    lost = []
    with ClaudeStandIn() as server:
        address = server.address
    with pytest.raises(ModelError, match=r"No connection to 127\.0\.0\.1"):
        client(address, retries=0).ask(REQUEST, lost.append)

    assert lost == []


def test_the_key_stands_in_no_message_and_no_traceback():
    """Neither what is printed nor what a traceback leads to holds the key, even when the API repeats it."""
    fail = Fail(401, "authentication_error", f"invalid key {KEY}")
    with ClaudeStandIn(behave=lambda call: fail) as server, pytest.raises(ModelError) as caught:
        client(server.address).ask(REQUEST, [].append)

    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("status", [400, 418])
def test_a_message_of_the_api_that_repeats_the_key_is_cleaned(status):
    """The API's own words are shown, the key in them is not."""
    error, _ = ask(lambda call: Fail(status, "invalid_request_error", f"odd header {KEY} given"))

    assert "odd header ... given" in str(error)


def test_a_key_is_looked_for_first():
    """Without a key a sentence says where to get one; the SDK would fail at the first call, with a TypeError."""
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY is not set"):
        key_of({"ANTHROPIC_API_KEY": " "})

    with pytest.raises(ModelError, match="a character that no key has") as caught:
        key_of({"ANTHROPIC_API_KEY": "sk-“secret”"})
    assert "secret" not in str(caught.value)
    assert key_of({"ANTHROPIC_API_KEY": "a", "ANTHROPIC_AUTH_TOKEN": "b"}) == {"api_key": "a"}
    assert key_of({"ANTHROPIC_AUTH_TOKEN": "b\n"}) == {"auth_token": "b"}


def test_after_the_end_nothing_is_asked():
    """A run that was stopped makes no further call."""
    with ClaudeStandIn() as server:
        talker = client(server.address)
        talker.stopped.set()
        with pytest.raises(StoppedError):
            talker.ask(REQUEST, [].append)

        assert server.total == 0


def test_something_else_that_answers_is_said():
    """A gateway's page in place of a message is no traceback."""
    with ClaudeStandIn() as server:
        server.message = lambda body, said: {"hello": "I am a proxy"}
        with pytest.raises(ModelError, match="not the Claude API"):
            client(server.address).ask(REQUEST, [].append)
