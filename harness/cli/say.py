"""Output of the program: plain lines to a terminal or a pipe, errors to standard error."""

from __future__ import annotations

import io
import logging
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable

PIPE_WIDTH = 80


def prepare() -> None:
    """Sets up output: characters that the terminal lacks are escaped, and each warning takes a line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("! %(message)s"))
    logger = logging.getLogger("harness")
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.WARNING)


def say(text: str) -> None:
    """Prints to standard output at once, so that a pipe shows it while the sweep runs."""
    if text:
        say_all([text])


def say_all(lines: Iterable[str]) -> None:
    """Prints lines, empty ones included. A closed pipe (``| head``) does not end the sweep."""
    try:
        for line in lines:
            print(line, flush=True)
    except BrokenPipeError:
        # What is still in the buffer must not fail again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Prints an error to standard error."""
    print(text, file=sys.stderr, flush=True)


def width() -> int:
    """Columns of the terminal; in a pipe 80, or ``COLUMNS``."""
    return shutil.get_terminal_size((PIPE_WIDTH, 24)).columns


def table_width() -> int:
    """``width()`` for tables: unlimited in a pipe without ``COLUMNS``, so that scripts get every column."""
    is_limited = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return width() if is_limited else sys.maxsize


def wrapped(text: str, indent: str, hanging: str | None = None) -> list[str]:
    """``text`` broken at blanks to the width of the terminal; words such as paths stay whole."""
    return textwrap.wrap(
        text,
        max(40, width()),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
