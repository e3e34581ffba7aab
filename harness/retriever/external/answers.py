"""The answers of an external retriever: each question asked, and its list of rows found in what came back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias, TypeGuard

from harness.progress import bar
from harness.retriever import Answer
from harness.retriever.external.rows import a, attribute, line, read_row

Call: TypeAlias = Callable[[Sequence[str], int], object]
_SHAPE = 'a list of rows such as {"id": ..., "text": ...} is expected'
# Where services and libraries put the list.
_LISTS = (
    *("results", "documents", "docs", "hits", "matches", "points", "nodes", "chunks", "contexts", "items"),
    *("rows", "result", "response", "data", "value"),
)
_HOLDERS = ("body", "points", "source_nodes")  # attributes of the responses of client libraries


class NoAnswerError(Exception):
    """Says in words of its own why a question has no answer."""


def ask_all(call: Call, questions: Sequence[str], batch: int, top_k: int, workers: int = 1) -> list[Answer]:
    """One answer for each question; ``call`` gets ``batch`` questions at a time and may raise.

    With ``batch`` 1 ``call`` gives the answer to its one question, else a list of answers. A batch that fails
    is asked again, question by question, as lists of one.
    """
    batches = [questions[first : first + batch] for first in range(0, len(questions), batch)]

    def asked(some: Sequence[str]) -> list[Answer]:
        if batch == 1:
            return [_one(lambda: call(some, top_k), top_k)]
        return _several(call, some, top_k)

    answers: list[Answer] = []
    with bar("asking", len(questions), "questions") as progress:
        for found in _mapped(asked, batches, workers):
            answers += found
            progress.update(len(found))
    return answers


def _mapped(
    asked: Callable[[Sequence[str]], list[Answer]], batches: Sequence[Sequence[str]], workers: int
) -> Iterator[list[Answer]]:
    if workers == 1:
        yield from map(asked, batches)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(asked, batches)
    finally:  # after Ctrl-C, requests that have not started are dropped
        pool.shutdown(wait=True, cancel_futures=True)


def _several(call: Call, some: Sequence[str], top_k: int) -> list[Answer]:
    try:
        given = _unwrapped(call(some, top_k))
        found = list(given) if _is_list(given) else None
    except Exception as error:  # noqa: BLE001 - it is anybody's code; one bad question must not cost the others
        if len(some) == 1:
            return [Answer(error=said(error))]
        return [answer for question in some for answer in _several(call, [question], top_k)]
    if found is None or len(found) != len(some):
        what = f"a list of {len(found)}" if found is not None else a(given)
        return [
            Answer(error=f"gave {what} to {len(some)} questions at a time; a list of as many is expected")
        ] * len(some)
    return [_one(lambda rows=rows: rows, top_k) for rows in found]  # type: ignore[misc]  # a default binds the loop's value


def _one(call: Callable[[], object], top_k: int) -> Answer:
    try:
        given = _unwrapped(call())
        if not _is_list(given):
            return Answer(error=f"gave {a(given)}; {_SHAPE}")
        rows = list(given)
    except Exception as error:  # noqa: BLE001 - it is anybody's code; one bad question must not cost the others
        return Answer(error=said(error))
    return Answer(tuple(map(read_row, rows[:top_k])), surplus=max(0, len(rows) - top_k))


def said(error: Exception) -> str:
    """An exception in a few words, on one line."""
    text = line(str(error))
    if isinstance(error, NoAnswerError):
        return text
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def _unwrapped(given: object) -> object:
    """The list in an answer, under whatever names services put it.

    Raises ``NoAnswerError`` for an error in its place, and for an object without a list.
    """
    given = next((v for name in _HOLDERS if _holds(v := attribute(given, name))), given)
    while isinstance(given, Mapping):
        if error := given.get("error") or given.get("errors"):
            raise NoAnswerError(f"an error: {error}")
        names = tuple(given) if len(given) == 1 else _LISTS
        inner = next((given[name] for name in names if _holds(given.get(name))), None)
        if inner is None:
            raise NoAnswerError(f"gave {a(given)}; {_SHAPE}, not {given}")
        given = inner
    return given


def _is_list(given: object) -> TypeGuard[Iterable[object]]:
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))


def _holds(given: object) -> bool:
    return isinstance(given, Mapping) or _is_list(given)
