"""The API as this program needs it: one request in, one reply out, with patience for what passes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from harness.errors import ModelError
from harness.questions.generate.failures import Failure, failure_of
from harness.questions.generate.ledger import Reply
from harness.questions.generate.pace import Pace
from harness.questions.generate.prompt import Request

if TYPE_CHECKING:
    import anthropic

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


class StoppedError(Exception):
    """The user or another call has ended the run: nothing more is asked."""


class Client(Protocol):
    """Something that answers requests."""

    def ask(self, request: Request, on_lost: Callable[[str], None]) -> Reply:
        """The reply to ``request``. ``on_lost`` is told of each try whose answer may have been paid for and did not come.

        Raises ``ModelError`` for what does not pass, ``StoppedError`` when the run is ended meanwhile.
        """


def key_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The credential as the SDK takes it. Raises ``ModelError`` when there is none: the SDK would say so only at the first call."""
    for name in _KEYS:
        value = environment.get(name, "").strip()
        if value and (not value.isascii() or any(map(str.isspace, value))):
            raise ModelError(f"{name} holds a blank or a character that no key has. Copy the key again.")
        if value:
            return {name.removeprefix("ANTHROPIC_").lower(): value}
    raise ModelError(
        "There is no key: ANTHROPIC_API_KEY is not set. Get one at platform.claude.com, then: export ANTHROPIC_API_KEY=..."
    )


class ClaudeClient:
    """Claude through the ``anthropic`` SDK. ``key`` is what ``key_of`` gives; it stands in no message.

    ``timeout`` in seconds; ``retries``: further tries of a call that failed for a passing reason. May be used by several threads.
    """

    def __init__(
        self,
        key: Mapping[str, str],
        *,
        pace: Pace,
        base_url: str | None = None,
        timeout: float = 60.0,
        retries: int = 6,
    ) -> None:
        import anthropic

        self.pace = pace
        self.retries = retries
        self._secrets = tuple(key.values())
        # Retries are ours: the SDK's would neither slow down the other threads nor end with the run.
        credential: dict[str, Any] = dict(key)
        self.sdk = anthropic.Anthropic(**credential, base_url=base_url, timeout=timeout, max_retries=0)

    def ask(self, request: Request, on_lost: Callable[[str], None]) -> Reply:
        """The reply to ``request``; see ``Client``."""
        raw = self.patiently(
            lambda: self.sdk.messages.with_raw_response.create(**request.body), request.model, on_lost
        )
        reply = reply_of(raw.parse(), request.model)
        self.pace.learn(raw.headers, reply.tokens_in, reply.tokens_out)
        return reply

    def patiently(self, call: Callable[[], Any], model: str, on_lost: Callable[[str], None]) -> Any:
        """What ``call`` gives, tried again while its failures are passing ones."""
        import anthropic

        attempt = 0
        while True:
            self.pace.wait()
            if self.pace.stopped.is_set():
                raise StoppedError
            try:
                return call()
            except anthropic.APIError as error:
                failure = failure_of(error, model)
            self._after(failure, attempt, model, on_lost)
            attempt += 1

    def _after(self, failure: Failure, attempt: int, model: str, on_lost: Callable[[str], None]) -> None:
        """Waits for the next try, or ends the run. Raised outside of ``except``: a traceback must not lead to the request and its key."""
        if failure.is_lost:
            on_lost(failure.reason)
        if not failure.is_passing or attempt >= self.retries:
            sentence = failure.sentence(attempt + 1)
            for secret in self._secrets:  # the API's own words may repeat the key
                sentence = sentence.replace(secret, "...")
            raise ModelError(sentence, model=model)
        seconds = failure.seconds(attempt)
        if failure.is_crowded:
            self.pace.rest(seconds)
        else:
            self.pace.stopped.wait(seconds)


def stop_event() -> threading.Event:
    """What ends all waiting of a run."""
    return threading.Event()


def reply_of(message: anthropic.types.Message, model: str) -> Reply:
    """A message of the SDK as a reply. Raises ``ModelError`` for anything else that a gateway may have sent."""
    try:
        text = "".join(block.text for block in message.content if block.type == "text")
        usage = message.usage
        cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
        tokens_in, tokens_out = int(usage.input_tokens) + cached, int(usage.output_tokens)
        return Reply(text, str(message.stop_reason), tokens_in, tokens_out, str(message.id))
    except (AttributeError, TypeError):
        raise ModelError(
            "What answers is not the Claude API: a reply has no content or no usage. Check generator.base_url and "
            "ANTHROPIC_BASE_URL.",
            model=model,
        ) from None
