"""What became of a file of questions, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.questions.importing import Given, Refused
from harness.questions.importing.finding import Found
from harness.questions.importing.merging import Merged

_SHOWN = 5
_INDENT = " " * 11


def report(
    file: Path, given: Given, found: Found, merged: Merged, refused: Sequence[Refused], rejected: Path | None
) -> Iterator[str]:
    """What was recognised, how many rows came in and what became of them; the first five that can't be used, with their reasons."""
    yield f"file       {file.name}: {given.recognised}"
    yield f"rows       {given.rows:,}"
    yield from (f"{_INDENT}{note}" for note in given.notes)
    states = ", ".join(
        f"{count:,} {state}"
        for state in ("VALID", "MOVED", "CHANGED", "LOST")
        if (count := found.states[state])
    )
    yield f"labels     {states or 'none'}"
    yield from _examples("named otherwise", found.completed)
    yield f"added      {_questions(len(merged.added))}"
    yield from _examples("ids taken by other questions", merged.renamed)
    if merged.same:
        gained = f"; {merged.changed:,} gained something" if merged.changed else ""
        yield f"merged     {_questions(merged.same)}, in the set already or twice in the file{gained}"
    if refused:
        yield f"rejected   {len(refused):,} {'row' if len(refused) == 1 else 'rows'}"
        yield from (f"{_INDENT}{row.where}: {reason}" for row, reason, _ in refused[:_SHOWN])
        more = f"and {len(refused) - _SHOWN:,} more; " if len(refused) > _SHOWN else ""
        yield f"{_INDENT}{more}all of them, with reasons: {rejected}"
        yield f"{_INDENT}correct them there and add that file"


def _examples(what: str, pairs: object) -> Iterator[str]:
    items = list(pairs.items()) if isinstance(pairs, dict) else []
    if items:
        given, now = items[0]
        more = f" and {len(items) - 1:,} more" if len(items) > 1 else ""
        yield f"{_INDENT}{what}: {given} is {now}{more}"


def _questions(count: int) -> str:
    return f"{count:,} {'question' if count == 1 else 'questions'}"
