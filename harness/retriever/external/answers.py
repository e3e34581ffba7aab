"""What an external retriever returned, read row by row: faults are named, and no row is dropped."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias, TypeGuard

from harness.progress import bar
from harness.retriever import Answer, Row

Call: TypeAlias = Callable[[Sequence[str], int], object]
_LONGEST = 200  # characters of an error that are shown
_SHAPE = 'a list of rows such as {"id": ..., "text": ...} is expected'


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
        what = f"{len(found)} answers" if found is not None else a(given)
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


def read_row(given: object) -> Row:
    """A row: ``id`` (or ``doc_id``), ``text``, ``start`` with ``end``, ``score``; all may be missing."""
    if not isinstance(given, Mapping):
        return Row(fault=f"{a(given)} instead of an object")
    faults: list[str] = []
    row_id = given.get("id", given.get("doc_id"))
    if isinstance(row_id, bool) or not isinstance(row_id, (str, int, type(None))):
        faults.append(f"id is {a(row_id)}")
        row_id = None
    text = given.get("text")
    if not isinstance(text, (str, type(None))):
        faults.append(f"text is {a(text)}")
        text = None
    start, end = _offset(given.get("start"), "start", faults), _offset(given.get("end"), "end", faults)
    if (start is None) != (end is None):
        faults.append("only one of start and end")
        start = end = None
    name = None if row_id is None else str(row_id)
    return Row(name, text, start, end, _score(given.get("score")), ", ".join(faults))


def said(error: Exception) -> str:
    """An exception in a few words, on one line."""
    text = " ".join(str(error).split())
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + " …"
    if isinstance(error, NoAnswerError):
        return text
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def a(value: object) -> str:
    """What kind of thing it is."""
    if value is None:
        return "nothing (None)"
    kind = type(value).__name__
    return f"an {kind}" if kind[0] in "aeio" else f"a {kind}"


def _unwrapped(given: object) -> object:
    """Services put a list under a name."""
    return given["results"] if isinstance(given, Mapping) and "results" in given else given


def _is_list(given: object) -> TypeGuard[Iterable[object]]:
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping))


def _offset(value: object, name: str, faults: list[str]) -> int | None:
    if value is None:
        return None
    try:
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]  # it says itself whether it is a whole number
    except TypeError:
        pass
    faults.append(f"{name} is {a(value)}")
    return None


def _score(value: object) -> float | None:
    if value is None:
        return None
    try:
        score = math.nan if isinstance(value, (str, bool)) else float(value)  # type: ignore[arg-type]  # it says itself whether it is a number
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return score if math.isfinite(score) else math.nan
