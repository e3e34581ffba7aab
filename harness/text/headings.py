"""Headings of a text file and where they stand, in Markdown and reStructuredText; its title."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.text.markdown import LONGEST, front_matter_title, read_blocks

_TITLE_WITHIN = 20_000  # characters
_FIRST_LINE = re.compile(r"\s*((#{1,6}(?![^ \t\r\n]))?([^\r\n]*))")
# A line that begins like this is an item, a quotation, a table, a heading already, or code.
_NO_HEADING = re.compile(r" {0,3}(?:[>|<]|(?:[-*+]|\d{1,9}[.)]|#{1,6})(?:[ \t]|$))| {4}|\t")
_ADORNMENT = re.compile(r"^(?P<line>([!-/:-@\[-`{-~])\2*)[ \t]*$", re.MULTILINE)
_SHORTEST_ADORNMENT = 4  # shorter ones must be as long as the text above them
_NO_ADORNMENT = ("::", "..")


class Heading(NamedTuple):
    """``start``: the offset of its first mark or letter, in characters. ``level`` 1 is the highest."""

    start: int
    level: int
    text: str


def headings(name: str, text: str) -> list[Heading]:
    """The headings of the file ``name``, in order.

    Files other than ``.md``, ``.mdx``, ``.markdown`` and ``.rst`` have none. Markdown: those of
    ``harness.text.markdown`` that say something, ``# Refunds`` or underlined. reStructuredText: one line
    underlined, or over- and underlined, with one punctuation mark; levels in the order in which their marks
    first appear. A heading's text is cut after 200 characters; a line of that length that is underlined is no
    heading.
    """
    if _is_markdown(name):
        return list(_markdown(text))
    # Offsets stay: every line end is a "\n" in the end, and none is two.
    plain = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
    return list(_restructured(plain)) if name.lower().endswith(".rst") else []


def title_of(name: str, text: str) -> str:
    """The title of the Markdown file ``name``: that of its front matter, else its first heading.

    A file without either is called by its name. Only the first 20,000 characters are read.
    """
    if _is_markdown(name):
        beginning = text[:_TITLE_WITHIN]
        if title := one_line(front_matter_title(beginning)):
            return title
        for heading in _markdown(beginning):
            return heading.text
    return name.rpartition("/")[2]


def one_line(text: str) -> str:
    """``text`` on one line, of at most 200 characters."""
    return " ".join(text[: 10 * LONGEST].split())[:LONGEST].rstrip()


def _is_markdown(name: str) -> bool:
    return name.lower().endswith((".md", ".mdx", ".markdown"))


def _markdown(text: str) -> Iterator[Heading]:
    blocks = read_blocks(text)
    marked = blocks.kinds > 0
    for start, level in zip(blocks.starts[marked].tolist(), blocks.kinds[marked].tolist(), strict=True):
        line = _FIRST_LINE.match(text, start)
        if line and (content := one_line(_unclosed(line[3].strip()) if line[2] else line[3])):
            yield Heading(line.start(1), level, content)


def _restructured(text: str) -> Iterator[Heading]:
    levels: dict[tuple[str, bool], int] = {}
    previous: re.Match[str] | None = None
    for match in _ADORNMENT.finditer(text):
        mark, over = match["line"], previous
        previous = match
        if mark in _NO_ADORNMENT:
            continue
        begin = match.start()
        if over and over["line"] == mark and text.count("\n", over.end(), begin) == 2:
            above = _line_above(text, begin, over.end())
            start = over.start()
        else:
            over = None
            above = _line_above(text, begin)
            start = above.start if above else 0
        if above and len(mark) >= min(_SHORTEST_ADORNMENT, len(above.text)):
            level = levels.setdefault((mark[0], over is not None), len(levels) + 1)
            previous = None  # the same line is not the overline of what follows
            yield Heading(start, level, above.text)


def _line_above(text: str, below: int, over: int = 0) -> Heading | None:
    """The line that ends before ``below`` if it may be a heading.

    It stands below a line of marks that ends at ``over``, else below an empty line.
    """
    begin = text.rfind("\n", 0, max(below - 1, 0)) + 1
    line = text[begin : max(below - 1, 0)]
    if begin < over or not 0 < len(line) <= LONGEST or not any(map(str.isalnum, line)):
        return None
    before = text.rfind("\n", 0, max(begin - 1, 0)) + 1
    if not over and (_NO_HEADING.match(line) or text[before:begin].strip()):
        return None
    return Heading(begin + len(line) - len(line.lstrip()), 0, one_line(line))


def _unclosed(content: str) -> str:
    """The text of a heading without the ``#`` that may close it."""
    bare = content.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else content
