from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from urllib3.util import retry

from harness.errors import SettingError
from harness.retriever import Answer, Row
from harness.retriever.http import HttpRetriever

ROWS = [{"id": "a"}, {"text": "t", "score": 0.25}]
READ = Answer((Row("a"), Row(None, "t", score=0.25)))


@contextmanager
def server(*replies):
    """A server that gives these replies in turn, the last one for ever: ``(status, headers, body)``, or a function of what was asked.

    Gives its address and the list of what it was asked.
    """
    asked, left, lock = [], list(replies), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                asked.append((content, dict(self.headers)))
                reply = left.pop(0) if len(left) > 1 else left[0]
            status, headers, body = reply(content) if callable(reply) else reply
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_port}/search", asked
    finally:
        made.shutdown()
        thread.join()
        made.server_close()


@pytest.fixture
def waits(monkeypatch):
    """The seconds that would have been waited for."""
    slept = []
    monkeypatch.setattr(retry.time, "sleep", slept.append)
    return slept


def test_a_question_is_posted_and_rows_come_back():
    """JSON in, JSON out; the list may stand under ``results``."""
    with server((200, {}, ROWS), (200, {}, {"results": ROWS})) as (url, asked):
        assert HttpRetriever(url).ask(["one", "two é"], 7) == [READ, READ]

    assert [content for content, _ in asked] == [{"query": "one", "top_k": 7}, {"query": "two é", "top_k": 7}]
    assert asked[0][1]["Content-Type"] == "application/json"


def test_batches_are_posted_in_order():
    """Several questions a request, several requests at a time, and every answer with its question."""

    def reply(content):
        return 200, {}, [[{"id": query}] for query in content["queries"]]

    questions = [f"q{i}" for i in range(23)]
    with server(reply) as (url, asked):
        answers = HttpRetriever(url, batch=4, concurrency=3).ask(questions, 5)

    assert answers == [Answer((Row(question),)) for question in questions]
    assert max(len(content["queries"]) for content, _ in asked) == 4


def test_what_may_pass_is_repeated(waits):
    """429 and 5xx are asked again at once, then after a time that doubles or that the server names."""
    with server((503, {}, b""), (429, {"Retry-After": "7"}, b""), (500, {}, b""), (200, {}, ROWS)) as (
        url,
        asked,
    ):
        assert HttpRetriever(url, retries=3, backoff=0.5).ask(["q"], 5) == [READ]

    assert len(asked) == 4
    assert waits == [7.0, 2.0]


def test_what_will_not_pass_is_not_repeated(waits):
    """A refusal is an error of the question, said with the server's own words."""
    with server((404, {}, b"no   such\nindex")) as (url, asked):
        assert HttpRetriever(url).ask(["q"], 5)[0].error == "HTTP 404 Not Found: no such index"

    assert (len(asked), waits) == (1, [])


def test_repetitions_end(waits):
    """After so many the last answer counts, and the next question is asked."""
    with server((500, {}, b"oops"), (500, {}, b"oops"), (200, {}, ROWS)) as (url, _):
        first, second = HttpRetriever(url, retries=1).ask(["q", "r"], 5)

    assert first.error == "HTTP 500 Internal Server Error: oops"
    assert (second, waits) == (READ, [])


def test_where_nobody_is_the_first_question_tells(waits):
    """A thousand questions are not waited for one by one."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    answers = HttpRetriever(f"http://127.0.0.1:{port}/", retries=2).ask([f"q{i}" for i in range(1000)], 5)

    assert len(answers) == 1000
    assert all(answer.error.startswith("nothing answers there (") for answer in answers)
    assert waits == [1.0]


def test_a_server_that_says_nothing_ends_in_time(waits):
    """The timeout is named."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        assert (
            HttpRetriever(url, timeout=0.05, retries=1).ask(["q"], 5)[0].error
            == "gave no answer within 0.05 s"
        )


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((200, {}, b"<html>"), "an answer that is not valid JSON: <html>"),
        ((200, {}, {"took": 3, "count": 0}), "gave a dict; a list of rows"),
        ((200, {}, {"error": "index not ready"}), "an error: index not ready"),
        (
            (503, {}, {"error": "index not ready"}),
            'HTTP 503 Service Unavailable: {"error": "index not ready"}',
        ),
        ((403, {}, b""), "HTTP 403 Forbidden (retriever.auth_env is unset; it names the key's variable)"),
        (
            (302, {"Location": "http://elsewhere/"}, b""),
            "HTTP 302, moved to http://elsewhere/: give that address",
        ),
        ((200, {"Content-Length": "500"}, b'[{"id": '), "the connection broke"),
    ],
    ids=str,
)
def test_answers_that_are_none(waits, reply, error):
    """Each is named for what it is; a redirect is not followed, or the header would go elsewhere."""
    with server(reply) as (url, _):
        assert HttpRetriever(url, retries=0).ask(["q"], 5)[0].error.startswith(error)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((401, {}, b'bad token: Bearer s3cret/"9'), "HTTP 401 Unauthorized: bad token: ***"),
        ((401, {}, b'{"detail": "s3cret\\/\\u00229 is unknown"}'), 'HTTP 401 Unauthorized: {"detail": "*** is unknown"}'),
        ((500, {}, b"x" * 112 + b's3cret/"9'), "HTTP 500 Internal Server Error: " + "x" * 112 + "***"),
        ((302, {"Location": '/?token=s3cret/"9'}, b""), "HTTP 302, moved to /?token=***: give that address"),
        ((200, {}, {"error": 'no key s3cret/"9'}), "an error: no key ***"),
        ((200, {}, {'s3cret/"9': 1, "b": 2}), "gave a dict; "),
    ],
    ids=["as sent", "escaped", "cut", "redirect", "as an answer", "as a key"],
)  # fmt: skip
def test_the_secret_is_sent_and_never_shown(monkeypatch, reply, error):
    """The header's value comes from the environment; a server that repeats it, or its last part, is not repeated."""
    monkeypatch.setenv("SEARCH_TOKEN", 'Bearer s3cret/"9')
    with server(reply) as (url, asked):
        retriever = HttpRetriever(url, retries=0, auth_env="SEARCH_TOKEN", auth_header="X-Key")
        answer = retriever.ask(["q"], 5)[0]

    assert asked[0][1]["X-Key"] == 'Bearer s3cret/"9'
    assert answer.error.startswith(error)
    assert "s3c" not in answer.error
    if reply[0] == 401:
        assert answer.error.endswith(" (retriever.auth_env is SEARCH_TOKEN, sent as X-Key)")


def test_a_short_secret_changes_no_row(monkeypatch):
    """A value such as "tea" is hidden in messages and left alone in texts."""
    monkeypatch.setenv("SEARCH_TOKEN", "tea")
    with server((200, {}, ["green tea"]), (200, {}, {"error": "tea?"})) as (url, _):
        first, second = HttpRetriever(url, auth_env="SEARCH_TOKEN").ask(["q", "r"], 5)

    assert (first.rows[0].text, second.error) == ("green tea", "an error: ***?")


@pytest.mark.parametrize(
    ("given", "key", "said"),
    [
        ({"url": "ftp://x/"}, "url", "must be an address such as"),
        ({"url": "127.0.0.1:80"}, "url", "must be an address such as"),
        ({"url": "http://x:port/"}, "url", "must be an address such as"),
        ({"url": "http://x/a b"}, "url", "must be an address such as"),
        ({"url": "http://me:pw@x/"}, "url", "holds a name or password"),
        ({"timeout": 0}, "timeout", "must be a number of at least 0.001"),
        ({"timeout": "30"}, "timeout", "must be a number of at least 0.001"),
        ({"backoff": -1}, "backoff", "must be a number of at least 0"),
        ({"retries": -1}, "retries", "a whole number, at least 0"),
        ({"concurrency": 0}, "concurrency", "at least 1"),
        ({"batch": 1.5}, "batch", "at least 1"),
        ({"auth_env": "NOT_SET_ANYWHERE"}, "auth_env", "NOT_SET_ANYWHERE, which is not set"),
        ({"auth_env": "WITH_BREAK"}, "auth_env", "holds a line break"),
        ({"auth_header": "X: y"}, "auth_header", "must be the name of a header"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(monkeypatch, given, key, said):
    """Each is named with what is allowed; no message shows a password."""
    monkeypatch.setenv("WITH_BREAK", "hidden\n")
    with pytest.raises(SettingError, match=said) as caught:
        HttpRetriever(**{"url": "http://127.0.0.1:1/"} | given)

    assert caught.value.key == f"retriever.{key}"
    assert "pw" not in str(caught.value)
    assert "hidden" not in str(caught.value)
