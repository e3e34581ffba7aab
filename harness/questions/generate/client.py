"""The Claude API: one request in, one reply out, and a message for every kind of failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import ModelError
from harness.questions.generate import Request
from harness.questions.generate.ledger import Reply

if TYPE_CHECKING:
    import anthropic

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_CACHED = "All answers so far are cached; the same command continues from here."
_NOT_CLAUDE = (
    "The server is not the Claude API: its reply has no content or no usage. "
    "Check {group}.base_url and ANTHROPIC_BASE_URL."
)
_LATER = "Try again later; status.claude.com reports outages."
# By HTTP status: what happened, and what to do.
_STATUS = {
    401: ("The API does not know the key", "Check ANTHROPIC_API_KEY."),
    402: ("The account has no credit left", "Add credit at platform.claude.com, under Billing."),
    403: ("The key may not use {model}", "Choose another {group}.model or another workspace's key."),
    404: ("There is no model {model}", "Check {group}.model and {group}.base_url."),
    413: ("A request is too large", "Remove the document with the longest paragraphs."),
    429: ("The rate limit is reached", "Lower {group}.concurrency, or use {group}.batch=true."),
    529: ("The API is overloaded", _LATER),
}


class StoppedError(Exception):
    """The user or a failed call ended the run: nothing more is asked."""


class CallFailure(NamedTuple):
    """A call that failed: a short reason, and a sentence of advice.

    ``is_lost``: the answer may have been written and paid for, but did not arrive.
    """

    reason: str
    advice: str
    is_lost: bool = False


def key_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The credential as arguments of the SDK. Raises ``ModelError`` when there is none."""
    for name in _KEYS:
        value = environment.get(name, "").strip()
        if value and (not value.isascii() or any(map(str.isspace, value))):
            raise ModelError(f"{name} contains a character that no key has. Copy the key again.")
        if value:
            return {name.removeprefix("ANTHROPIC_").lower(): value}
    raise ModelError(
        "There is no key: ANTHROPIC_API_KEY is not set. Get one at platform.claude.com, "
        "then: export ANTHROPIC_API_KEY=... Your own questions need no key: python -m harness.golden.add FILE"
    )


class ClaudeClient:
    """Claude through the ``anthropic`` SDK, which repeats failed calls. Safe for several threads.

    Parameters
    ----------
    key : the credential of ``key_of``; it appears in no message
    stopped : when set, no further try is made
    timeout : seconds to wait for an answer
    retries : further tries after a rate limit, an overload, or a broken connection
    group : the group of the settings, as messages name them
    """

    def __init__(
        self,
        key: Mapping[str, str],
        *,
        stopped: threading.Event,
        base_url: str | None = None,
        timeout: float = 60.0,
        retries: int = 6,
        group: str = "generator",
    ) -> None:
        import anthropic

        self.stopped, self.retries, self.group = stopped, retries, group
        self._secrets = tuple(key.values())
        credential: dict[str, Any] = dict(key)
        self.sdk = anthropic.Anthropic(**credential, base_url=base_url, timeout=timeout, max_retries=retries)

    def ask(self, request: Request, on_lost: Callable[[str], None]) -> Reply:
        """The reply to ``request``.

        ``on_lost`` is called for each try that may have been paid for and brought no answer. Raises
        ``ModelError`` for a failure that stays, ``StoppedError`` when the run has ended.
        """
        message = self.call(lambda sdk: sdk.messages.create(**request.body), request.model, on_lost)
        return reply_of(message, request.model, self.group)

    def call(
        self,
        make: Callable[[anthropic.Anthropic], Any],
        model: str,
        on_lost: Callable[[str], None] = lambda _reason: None,
        unknown: tuple[str, str] | None = None,
    ) -> Any:
        """What ``make`` returns, given the SDK; ``on_lost`` sees every try whose answer did not arrive.

        ``unknown``: reason and advice where what is asked for does not exist; None: the model does not.
        """
        import anthropic

        tries = 0

        def watched(request: Any, send: Callable[[Any], Any]) -> Any:
            nonlocal tries
            if self.stopped.is_set():
                raise StoppedError
            tries += 1
            try:
                return send(request)
            except anthropic.APIConnectionError as error:
                failed = error
            failure = failure_of(failed, model)
            if failure.is_lost:
                on_lost(failure.reason)
            raise failed

        try:
            return make(self.sdk.with_options(middleware=[watched]))
        except anthropic.APIError as error:
            reason, advice, _ = failure_of(error, model)
            if unknown and isinstance(error, anthropic.NotFoundError):
                reason, advice = unknown
        # Raised outside of ``except``: a traceback must not lead to the request and its key.
        sentence = f"{reason}{f' after {tries} tries' if tries > 1 else ''}. {advice} {_CACHED}".replace(
            "{group}", self.group
        )
        for secret in self._secrets:  # the API's own words may repeat the key
            sentence = sentence.replace(secret, "...")
        raise ModelError(sentence, model=model)


def failure_of(error: anthropic.APIError, model: str) -> CallFailure:
    """The failure behind an error of the SDK."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APITimeoutError):
        is_sent = not isinstance(error.__cause__, (httpx2.ConnectTimeout, httpx2.PoolTimeout))
        advice = "Raise {group}.timeout, or lower {group}.concurrency."
        return CallFailure("No answer came in time", advice, is_lost=is_sent)
    if isinstance(error, anthropic.APIConnectionError):
        if isinstance(error.__cause__, httpx2.ConnectError):
            advice = "Check the network, a proxy, and {group}.base_url."
            return CallFailure(f"No connection to {error.request.url.host}", advice)
        advice = "Check the network or the proxy."
        return CallFailure("The connection was cut before the answer came", advice, is_lost=True)
    if isinstance(error, anthropic.APIStatusError):
        return _by_status(error, model)
    return CallFailure("The server is not the Claude API", "Check {group}.base_url and ANTHROPIC_BASE_URL.")


def _by_status(error: anthropic.APIStatusError, model: str) -> CallFailure:
    # The API's own words on one line.
    said = " ".join(str(error.api_message or error.message).split())[:200].rstrip(".")
    status = error.status_code
    is_unpaid = error.type == "billing_error" or "credit balance" in said.lower()
    default = (f"The API refused the request ({status}): {said}", "Correct the setting that it names.")
    if status >= 500 or status in {408, 409}:
        default = (f"The API failed ({status})", _LATER)
    known = _STATUS.get(402 if is_unpaid else status)
    reason, advice = (f"{known[0].format(model=model)} ({status})", known[1]) if known else default
    return CallFailure(reason, advice)


def reply_of(message: anthropic.types.Message, model: str, group: str = "generator") -> Reply:
    """A message of the SDK as a reply. Raises ``ModelError`` for anything else that a gateway may send."""
    try:
        text = "".join(block.text for block in message.content if block.type == "text")
        usage = message.usage
        cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
        tokens_in, tokens_out = int(usage.input_tokens) + cached, int(usage.output_tokens)
        return Reply(text, str(message.stop_reason), tokens_in, tokens_out, str(message.id))
    except (AttributeError, TypeError):
        raise ModelError(_NOT_CLAUDE.replace("{group}", group), model=model) from None
