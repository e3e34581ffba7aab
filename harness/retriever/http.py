"""A retriever that is served over HTTP, by whatever is written in whatever language."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from harness.errors import SettingError
from harness.retriever import Answer
from harness.retriever.external.answers import NoAnswerError, ask_all, check_numbers, said

_AGAIN = {408, 429, 500, 502, 503, 504}
_LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
_LARGEST = 64_000_000  # bytes of an answer
NOBODY = "nothing answers there"
_LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|::1")


class HttpRetriever:
    """Posts ``{"query": ..., "top_k": ...}`` as JSON to ``url`` and reads a JSON list of rows, or ``{"results": [...]}``.

    Rows are as for ``retriever=callable``. With ``batch`` above 1 ``{"queries": [...], "top_k": ...}`` is posted and a list of lists is read. A request ends
    after ``timeout`` seconds. Where nothing answers, and for 408, 429 and 5xx, it is repeated up to ``retries`` times, first after ``backoff``
    seconds, then after twice as many, or when the server says. ``concurrency`` requests run at a time. ``auth_env`` names an environment
    variable whose value is sent as the header ``auth_header`` and is written nowhere. Redirects are not followed: the value must not
    reach another host. ``depth``: rows asked for at most, None for as many as the metrics need. Raises ``SettingError``.
    """

    uses_model = False
    returns_own_chunks = True

    def __init__(
        self,
        url: str,
        timeout: float = 30.0,
        retries: int = 3,
        backoff: float = 0.5,
        concurrency: int = 4,
        batch: int = 1,
        auth_env: str | None = None,
        auth_header: str = "Authorization",
        depth: int | None = None,
    ) -> None:
        check_numbers(depth, batch=batch, concurrency=concurrency)
        _check_waiting(timeout, retries, backoff)
        self.name = str(url)
        self.depth = depth
        self._batch, self._workers = batch, concurrency
        self._timeout, self._retries, self._backoff = float(timeout), retries, float(backoff)
        self._opener = _opener(self.name)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._secret = _secret(auth_env, str(auth_header))
        if self._secret:
            self._headers[str(auth_header)] = self._secret

    def ask(self, questions: Sequence[str], top_k: int) -> list[Answer]:
        """One answer for each question. Where nothing listens, the first question tells, and the rest is not waited for."""
        first = ask_all(self._call, questions[:1], self._batch, top_k)
        if not questions or len(questions) == 1:
            return first
        if first[0].error.startswith(NOBODY):
            return first * len(questions)
        return first + ask_all(self._call, questions[1:], self._batch, top_k, self._workers)

    def _call(self, questions: Sequence[str], top_k: int) -> object:
        asked: dict[str, Any] = {"query": questions[0]} if self._batch == 1 else {"queries": list(questions)}
        data = json.dumps(asked | {"top_k": top_k}).encode()
        for attempt in range(self._retries):
            try:
                return self._posted(data)
            except _AgainError as error:
                wait = self._backoff * 2**attempt if error.wait is None else error.wait
            time.sleep(wait)
        return self._posted(data)

    def _posted(self, data: bytes) -> object:
        request = Request(self.name, data, self._headers, method="POST")  # noqa: S310 - the scheme was checked
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return _content(answer.read(_LARGEST + 1))
        except HTTPError as error:
            with error:
                text = self._without_secret(_refused(error))
                if error.code not in _AGAIN:
                    raise NoAnswerError(text) from None
                raise _AgainError(text, _asked_to_wait(error.headers.get("Retry-After"))) from None
        except TimeoutError:
            raise _AgainError(f"gave no answer within {self._timeout:g} s") from None
        except URLError as error:
            slow = isinstance(error.reason, TimeoutError)
            reason = f"no connection within {self._timeout:g} s" if slow else error.reason
            raise _AgainError(f"{NOBODY} ({reason})") from None
        except (OSError, HTTPException) as error:  # the connection broke in the middle of an answer
            raise _AgainError(said(error)) from None

    def _without_secret(self, text: str) -> str:
        """A server may repeat what it was sent."""
        return text.replace(self._secret, "***") if self._secret else text


class _AgainError(NoAnswerError):
    """It may be otherwise in a while: ``wait`` seconds if the server says so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """None: a redirect is an answer like any other, and no rows."""


def _opener(url: str) -> OpenerDirector:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        valid = False
    if not valid or not re.fullmatch(r"[\x21-\x7e]+", url):
        raise SettingError(
            f"retriever.url is {url!r}; it must be an address such as http://127.0.0.1:8000/search.",
            key="retriever.url",
        )
    if parts.username or parts.password:
        raise SettingError(
            "retriever.url holds a name or password, which would be written into every result. Put the header's value into an environment "
            "variable and name it: retriever.auth_env=NAME.",
            key="retriever.url",
        )
    local = [ProxyHandler({})] if _LOOPBACK.fullmatch(str(parts.hostname)) else []
    return build_opener(_NoRedirect, *local)


def _secret(variable: str | None, header: str) -> str:
    """The value of the header; errors never show it."""
    if not re.fullmatch(r"[A-Za-z0-9-]+", header):
        raise SettingError(
            f"retriever.auth_header is {header!r}; it must be the name of a header.",
            key="retriever.auth_header",
        )
    if variable is None:
        return ""
    value = os.environ.get(str(variable), "")
    if not value:
        raise SettingError(
            f"retriever.auth_env names the environment variable {variable}, which is not set. Its value is sent as {header}.",
            key="retriever.auth_env",
        )
    if not re.fullmatch(r"[\x20-\x7e]+", value):
        raise SettingError(
            f"The environment variable {variable} holds a line break or another sign that no header may hold.",
            key="retriever.auth_env",
        )
    return value


def _check_waiting(timeout: object, retries: object, backoff: object) -> None:
    for key, value, least in (("timeout", timeout, 0.001), ("backoff", backoff, 0)):
        if (
            not isinstance(value, (int, float))
            or isinstance(value, bool)
            or not least <= value < float("inf")
        ):
            raise SettingError(
                f"retriever.{key} is {value}; it must be a number of seconds.", key=f"retriever.{key}"
            )
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        raise SettingError(
            f"retriever.retries is {retries}; it must be a whole number, 0 for none.", key="retriever.retries"
        )


def _content(data: bytes) -> object:
    if len(data) > _LARGEST:
        raise NoAnswerError(f"an answer of more than {_LARGEST // 1_000_000} MB")
    try:
        return json.loads(data)
    except ValueError:
        raise NoAnswerError(f"an answer that is no JSON: {_beginning(data)}") from None


def _refused(error: HTTPError) -> str:
    location = error.headers.get("Location")
    if location and 300 <= error.code < 400:
        return f"HTTP {error.code}, moved to {location}: give that address"
    return f"HTTP {error.code} {error.reason}: {_beginning(error.read(1000))}".rstrip(": ")


def _beginning(data: bytes) -> str:
    return " ".join(data[:150].decode("utf-8", "replace").split())


def _asked_to_wait(value: str | None) -> float | None:
    return min(float(value), _LONGEST_WAIT) if value and value.strip().isdigit() else None
