"""What the program says: plain lines to a terminal or a pipe, mistakes to standard error."""

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
    """Makes sure that no text can break the program: a terminal that lacks a sign gets its code, warnings get a line each."""
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
    """Prints lines, empty ones included. A reader that has gone (``| head``) does not end the sweep."""
    try:
        for line in lines:
            print(line, flush=True)
    except BrokenPipeError:
        # What is still in the buffer must not fail again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Prints a mistake to standard error."""
    print(text, file=sys.stderr, flush=True)


def width() -> int:
    """Columns of the terminal; in a pipe 80, or ``COLUMNS``."""
    return shutil.get_terminal_size((PIPE_WIDTH, 24)).columns


def wrapped(text: str, indent: str, hanging: str | None = None) -> list[str]:
    """``text`` broken at blanks to the width of the terminal; words, such as paths to be copied, stay whole."""
    return textwrap.wrap(
        text,
        max(40, width()),
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
