"""What can go wrong with a call, each with its own sentence, and whether it passes by itself."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import anthropic

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_LONGEST_ASKED = 600.0
_KEPT = "Everything answered so far is kept; the same command goes on from here."


class Failure(NamedTuple):
    """A call that failed.

    ``reason`` is a short phrase, ``advice`` a sentence. ``is_passing``: the same call may work in a moment. ``is_lost``: the answer may have been
    written and paid for, but did not arrive. ``is_crowded``: no call should start for ``pause`` seconds. ``pause``: as the API asked, or None.
    """

    reason: str
    advice: str
    is_passing: bool = False
    is_lost: bool = False
    is_crowded: bool = False
    pause: float | None = None

    def seconds(self, attempt: int) -> float:
        """How long to wait before try number ``attempt`` + 1: as asked, or twice as long each time, less up to a half by chance."""
        if self.pause is not None:
            return min(self.pause, _LONGEST_ASKED)
        longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**attempt)
        return longest * (1 - random.random() / 2)  # noqa: S311 - jitter, no secret

    def sentence(self, tries: int) -> str:
        """What the user reads when it ends the run."""
        again = f" after {tries} tries" if tries > 1 else ""
        return f"{self.reason}{again}. {self.advice} {_KEPT}"


def failure_of(error: anthropic.APIError, model: str) -> Failure:
    """The failure behind an error of the SDK."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APITimeoutError):
        is_sent = not isinstance(error.__cause__, (httpx2.ConnectTimeout, httpx2.PoolTimeout))
        return Failure(
            "No answer came in time",
            "Raise generator.timeout, or lower generator.concurrency.",
            is_passing=True,
            is_lost=is_sent,
        )
    if isinstance(error, anthropic.APIConnectionError):
        if isinstance(error.__cause__, httpx2.ConnectError):
            return Failure(
                f"No connection to {error.request.url.host}",
                "Check the network, a proxy, and generator.base_url.",
                is_passing=True,
            )
        return Failure(
            "The connection was cut before the answer came",
            "Check the network or the proxy.",
            is_passing=True,
            is_lost=True,
        )
    if isinstance(error, anthropic.APIStatusError):
        return _by_status(error, model)
    return Failure(
        "What answers is not the Claude API", "Check generator.base_url and ANTHROPIC_BASE_URL.", is_lost=True
    )


def _by_status(error: anthropic.APIStatusError, model: str) -> Failure:
    status, said = error.status_code, _said(error)
    pause = _pause(error)
    if status == 402 or error.type == "billing_error" or "credit balance" in said.lower():
        return Failure(
            f"The account has no credit left ({status})", "Add credit at platform.claude.com, under Billing."
        )
    if status == 429:
        advice = "Lower generator.concurrency, wait a while, or use generator.batch=true."
        return Failure(
            "The rate limit is reached (429)", advice, is_passing=True, is_crowded=True, pause=pause
        )
    if status == 529:
        return Failure(
            "The API is overloaded (529)", "Try again later.", is_passing=True, is_crowded=True, pause=pause
        )
    if status >= 500 or status in {408, 409}:
        return Failure(
            f"The API failed ({status})",
            "Try again later; status.claude.com says more.",
            is_passing=True,
            pause=pause,
        )
    reasons = {
        401: ("The API does not know the key (401)", "Check ANTHROPIC_API_KEY."),
        403: (
            f"The key may not use {model} (403)",
            "Choose another generator.model, or a key of another workspace.",
        ),
        404: (f"There is no model {model} (404)", "Check generator.model and generator.base_url."),
        413: ("A request is too large (413)", "Leave out the document with the longest paragraphs."),
    }
    reason, advice = reasons.get(status, (f"The API refused the request ({status}): {said}", "Correct that."))
    return Failure(reason, advice)


def _said(error: anthropic.APIStatusError) -> str:
    """The API's own words, without a line break, cut to a line."""
    return " ".join(str(error.api_message or error.message).split())[:200].rstrip(".")


def _pause(error: anthropic.APIStatusError) -> float | None:
    """Seconds that the API asks to wait."""
    given = error.response.headers.get("retry-after")
    try:
        return None if given is None else max(0.0, float(given))
    except ValueError:
        return None  # a date: the usual pauses will do
