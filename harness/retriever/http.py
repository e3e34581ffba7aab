"""A retriever that is served over HTTP, by whatever is written in whatever language."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import ConnectTimeoutError, MaxRetryError, NewConnectionError, ReadTimeoutError

from harness.errors import SettingError, number, whole
from harness.retriever import Answer
from harness.retriever.external.answers import NoAnswerError, ask_all, said
from harness.retriever.external.rows import line

_AGAIN = {408, 429, 500, 502, 503, 504}
_LONGEST_WAIT = 60  # seconds, whatever a server asks for
_LARGEST = 64_000_000  # bytes of an answer
_SHOWN = 120  # characters of an answer that is none
_LONG_SECRET = 8  # characters; a shorter one may be a word of the documents
NOBODY = "nothing answers there"
_LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|::1")


class HttpRetriever:
    """Posts ``{"query": ..., "top_k": ...}`` to ``url`` and reads a list of rows as JSON.

    Rows are as for ``retriever=callable``; objects around the list, as services have them, are taken off.
    Redirects are not followed: the header's value must not reach another host. Raises ``SettingError``.

    - ``timeout``: seconds for one request.
    - ``retries``: times that a request is repeated where nothing answers, and after 408, 429 and 5xx.
    - ``backoff``: seconds; repeated at once, then after 2, 4, 8, ... times as many, or when the server says.
    - ``concurrency``: requests at a time.
    - ``batch``: above 1 ``{"queries": [...], "top_k": ...}`` is posted and a list of lists is read.
    - ``auth_env``: the environment variable whose value is sent as ``auth_header`` and is written nowhere.
    - ``depth``: rows asked for at most, None for as many as the metrics need.
    """

    uses_chunks = False
    uses_model = False
    uses_index = False

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
        self.name = str(url)
        self.depth = None if depth is None else whole(depth, "retriever.depth", 1, of="rows")
        self._batch = whole(batch, "retriever.batch", 1, of="questions")
        self._workers = whole(concurrency, "retriever.concurrency", 1, of="requests")
        self._timeout = number(timeout, "retriever.timeout", 0.001)
        self._retries = urllib3.Retry(
            total=whole(retries, "retriever.retries"),
            status_forcelist=_AGAIN,
            allowed_methods=None,
            backoff_factor=number(backoff, "retriever.backoff"),
            backoff_max=_LONGEST_WAIT,
            retry_after_max=_LONGEST_WAIT,
            raise_on_status=False,
        )
        self._pool = _pool(self.name)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        secret = _secret(auth_env, str(auth_header))
        if secret:
            self._headers[str(auth_header)] = secret
        # Of "Bearer VALUE", the value alone is a secret too.
        self._secrets = [text for text in (secret, secret.partition(" ")[2].strip()) if text]
        self._auth = f"{auth_env}, sent as {auth_header}" if secret else "unset; it names the key's variable"

    def ask(self, questions: Sequence[str], top_k: int) -> list[Answer]:
        """One answer for each question. Where nothing listens, only the first question is sent."""
        answers = ask_all(self._call, questions[:1], self._batch, top_k)
        if answers and answers[0].error.startswith(NOBODY):
            answers *= len(questions)
        elif len(questions) > 1:
            answers += ask_all(self._call, questions[1:], self._batch, top_k, self._workers)
        return [answer._replace(error=self._hidden(answer.error)) for answer in answers]

    def _call(self, questions: Sequence[str], top_k: int) -> object:
        asked: dict[str, Any] = {"query": questions[0]} if self._batch == 1 else {"queries": list(questions)}
        try:
            answer = self._pool.request(
                "POST",
                self.name,
                body=json.dumps(asked | {"top_k": top_k}).encode(),
                headers=self._headers,
                timeout=self._timeout,
                retries=self._retries,
                redirect=False,
                preload_content=False,
            )
            data = answer.read(_LARGEST + 1)
            answer.release_conn()
        except MaxRetryError as error:
            raise NoAnswerError(_unreachable(error.reason, self._timeout)) from None
        except urllib3.exceptions.HTTPError:
            raise NoAnswerError("the connection broke in the middle of the answer") from None
        if len(data) > _LARGEST:
            raise NoAnswerError(f"an answer of more than {_LARGEST // 1_000_000} MB")
        text = self._hidden(data.decode("utf-8", "replace"), _LONG_SECRET)
        if answer.status != HTTPStatus.OK:
            raise NoAnswerError(self._refused(answer, text))
        try:
            return json.loads(text)
        except ValueError:
            raise NoAnswerError(f"an answer that is not valid JSON: {line(text, _SHOWN)}") from None

    def _hidden(self, text: str, shortest: int = 1) -> str:
        """``text`` without the header's value, which a server may repeat, escaped as it likes."""
        with suppress(ValueError):
            text = json.dumps(json.loads(text), ensure_ascii=False) if self._secrets else text
        for secret in (secret for secret in self._secrets if len(secret) >= shortest):
            text = text.replace(json.dumps(secret)[1:-1], "***").replace(secret, "***")
        return text

    def _refused(self, answer: urllib3.BaseHTTPResponse, text: str) -> str:
        """What an answer with another status than 200 says, and what to do."""
        location = answer.headers.get("Location")
        if location and 300 <= answer.status < 400:
            return f"HTTP {answer.status}, moved to {self._hidden(location)}: give that address"
        said = f"HTTP {answer.status} {answer.reason}: {line(self._hidden(text), _SHOWN)}".rstrip(": ")
        is_auth = answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
        return said + f" (retriever.auth_env is {self._auth})" * is_auth


def _unreachable(reason: Exception | None, timeout: float) -> str:
    """Why no answer came at all."""
    if isinstance(reason, ReadTimeoutError):
        return f"gave no answer within {timeout:g} s"
    if isinstance(reason, ConnectTimeoutError):
        return f"{NOBODY} (no connection within {timeout:g} s)"
    if isinstance(reason, NewConnectionError):
        return f"{NOBODY} ({reason.__cause__ or reason})"
    return said(reason or ConnectionError("no answer"))


def _pool(url: str) -> urllib3.PoolManager:
    """Connections to the service, through the proxy that the environment names, if any.

    A service on this machine is never asked through a proxy.
    """
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is not a number
        valid = False
    if not valid or not re.fullmatch(r"[\x21-\x7e]+", url):
        raise SettingError(
            f"retriever.url is {url!r}; it must be an address such as http://127.0.0.1:8000/search.",
            key="retriever.url",
        )
    if parts.username or parts.password:
        raise SettingError(
            "retriever.url holds a name or password, which would be written into every result. Put the "
            "header's value into an environment variable and name it: retriever.auth_env=NAME.",
            key="retriever.url",
        )
    host = str(parts.hostname)
    proxy = None if _LOOPBACK.fullmatch(host) or proxy_bypass(host) else getproxies().get(parts.scheme)
    return urllib3.ProxyManager(proxy) if proxy else urllib3.PoolManager()


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
            f"retriever.auth_env names the environment variable {variable}, which is not set. "
            f"Its value is sent as {header}.",
            key="retriever.auth_env",
        )
    if not re.fullmatch(r"[\x20-\x7e]+", value):
        raise SettingError(
            f"The environment variable {variable} holds a line break or another forbidden sign.",
            key="retriever.auth_env",
        )
    return value
