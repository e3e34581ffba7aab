"""How fast calls may follow one another: slower before a rate limit is hit, and not at all while the API asks for rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

# Of what a call uses of each limit, so many calls must be left before calls are slowed down.
_CALLS_LEFT = 2
_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")
_LONGEST = 300.0


class Pace:
    """Shared by all threads of one key. ``calls``: how many may be on their way at a time.

    ``stopped`` ends every wait.
    """

    def __init__(self, calls: int, stopped: threading.Event) -> None:
        self.stopped = stopped
        self._calls = calls
        self._lock = threading.Lock()
        self._next = 0.0
        self._step = 0.0

    def wait(self) -> None:
        """Waits for this call's turn."""
        with self._lock:
            now = time.monotonic()
            begin = max(now, self._next)
            self._next = begin + self._step
        self.stopped.wait(begin - now)

    def rest(self, seconds: float) -> None:
        """No call starts for so long: the API said that there were too many."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + min(seconds, _LONGEST))

    def learn(self, headers: Mapping[str, str], tokens_in: int, tokens_out: int) -> None:
        """Looks at what is left of each limit after a call that used so many tokens.

        Limits fill up again evenly. Once less is left than the calls on their way need twice over, calls start as fast as
        the scarcest limit refills. Headers that are missing or make no sense change nothing.
        """
        used = dict(zip(_KINDS, (1, tokens_in + tokens_out, tokens_in, tokens_out), strict=True))
        steps = [_step(headers, kind, used[kind], self._calls * _CALLS_LEFT) for kind in _KINDS]
        with self._lock:
            self._step = max(steps)
            if self._step:
                self._next = max(self._next, time.monotonic() + self._step)


def _step(headers: Mapping[str, str], kind: str, used: int, calls: int) -> float:
    """Seconds between two calls that one limit asks for; 0 while there is plenty."""
    with suppress(KeyError, ValueError):
        limit = int(headers[f"anthropic-ratelimit-{kind}-limit"])
        left = int(headers[f"anthropic-ratelimit-{kind}-remaining"])
        seconds = _seconds_until(headers[f"anthropic-ratelimit-{kind}-reset"])
        if left < used * calls and limit > left and seconds > 0:
            return min(_LONGEST, seconds / (limit - left) * used)
    return 0.0


def _seconds_until(moment: str) -> float:
    """Seconds from now until an RFC 3339 time."""
    return (datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()
