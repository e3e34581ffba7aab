"""The outcome of ``gate`` or ``verify`` in a file, for scripts and pull requests; errors included."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.cli.command import Words, unquoted
from harness.cli.say import say_all, wrapped
from harness.decision.gate import NotComparableError, TooManyLeftOutError
from harness.files.atomic import writing
from harness.view.formats import cell_text
from harness.view.recorded import SHOWN

NOT_COMPARABLE, TOO_MANY_LEFT_OUT = 2, 5
"""Exit codes of both commands; see docs/exit-codes.md."""


def not_comparable(words: Words, title: str, error: NotComparableError) -> int:
    """Says and writes why nothing is compared; gives the exit code."""
    is_left_out = isinstance(error, TooManyLeftOutError)
    outcome = "too many left out" if is_left_out else "not comparable"
    said = f"{'Too many questions are left out' if is_left_out else 'Not comparable'}: {error}"
    say_all(wrapped(said, ""))
    code = TOO_MANY_LEFT_OUT if is_left_out else NOT_COMPARABLE
    write_outcome(words, title, code, outcome, [said], {})
    return code


def write_outcome(
    words: Words, title: str, code: int, outcome: str, sentences: Sequence[str], figures: Mapping[str, Any]
) -> None:
    """Writes ``figures`` with the exit ``code`` and the sentences, as JSON if the name ends in .json.

    Otherwise as Markdown, where lists of mappings are tables. The file is read from the words, because an
    error may come before there is a configuration. Raises ``StoreError``.
    """
    given = [unquoted(word.partition("=")[2]) for word in words.overrides if word.startswith("output=")]
    if not given or given[-1] in {"", "null"}:
        return
    name, file = Path(words.files[0]).name if words.files else None, Path(given[-1])
    if file.suffix.lower() == ".json":
        head = {"production": name, "outcome": outcome, "exit_code": code, "sentences": list(sentences)}
        text = json.dumps({**head, **figures}, indent=1, ensure_ascii=False)
    else:
        tables = [_table(key, rows) for key, rows in figures.items() if _is_table(rows)]
        compared = [] if name is None else [f"Compared with `{name}`."]
        first, *others = sentences
        text = "\n\n".join([f"### Retrieval {title}: {first}", *others, *tables, *compared])
    with writing(file, make_folder=True, remedy="Choose another file with output=FILE.") as opened:
        opened.write(f"{text}\n".encode(errors="backslashreplace"))


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """The first rows below their keys."""
    lines = [[key.replace("_", " ") for key in rows[0]], ["---"] * len(rows[0])]
    lines += [[_text(value) for value in row.values()] for row in rows[:SHOWN]]
    return "\n".join([f"**{title}**", "", *(f"| {' | '.join(line)} |" for line in lines)])


def _text(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else cell_text(str(value))
