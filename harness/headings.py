"""Headings of a text file, with their places: Markdown and reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# A longer line is a paragraph with a rule under it, or no line that anybody reads as a heading.
LONGEST = 200
_MARKDOWN = re.compile(
    r"^ {0,3}(?:(?P<hashes>#{1,6})(?=[ \t\n]|\Z)|(?P<fence>`{3,}|~{3,})|(?P<line>=+|-+)[ \t]*$)", re.MULTILINE
)
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?=[\w-]+[ \t]*:).*?^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)
# A line that begins like this is an item, a quotation, a table, a heading already, or code.
_NO_HEADING = re.compile(r" {0,3}(?:[>|<]|(?:[-*+]|\d{1,9}[.)]|#{1,6})(?:[ \t]|$))| {4}|\t")
_ADORNMENT = re.compile(r"^(?P<line>([!-/:-@\[-`{-~])\2*)[ \t]*$", re.MULTILINE)
_SHORTEST_ADORNMENT = 4  # shorter ones must be as long as the text above them
_NO_ADORNMENT = ("::", "..")


class Heading(NamedTuple):
    """``start``: where it begins, its first mark or letter, a character offset. ``level`` 1 is the highest."""

    start: int
    level: int
    text: str


def headings(name: str, text: str) -> list[Heading]:
    """The headings of the file ``name``, in order: ``.md`` and ``.markdown`` files and ``.rst`` files have them, others none.

    Markdown: ``# Refunds``, and one line underlined with ``=`` (level 1) or ``-`` (level 2) after an empty line. What stands in a fenced
    code block or in the front matter is none. reStructuredText: one line underlined, or over- and underlined, with one punctuation
    mark; levels in the order in which their marks first appear. Of a text of over 200 characters the first 200 count; a line of that length
    that is underlined is no heading.
    """
    # Offsets stay: every line end is a "\n" in the end, and none is two.
    plain = text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text
    if name.lower().endswith((".md", ".markdown")):
        return list(_markdown(plain))
    return list(_restructured(plain)) if name.lower().endswith(".rst") else []


def one_line(text: str) -> str:
    """``text`` on one line, of at most 200 characters."""
    return " ".join(text[: 10 * LONGEST].split())[:LONGEST].rstrip()


def _markdown(text: str) -> Iterator[Heading]:
    front = _FRONT_MATTER.match(text)
    first = front.end() if front else 0
    fence = ""
    for match in _MARKDOWN.finditer(text, first):
        kind = str(match.lastgroup)
        mark = match[kind]
        rest = _rest(text, match.end())
        if fence:
            fence = "" if mark.startswith(fence) and not rest else fence
        elif kind == "fence":
            fence = "" if mark[0] == "`" and "`" in rest else mark
        elif kind == "hashes":
            if content := one_line(_unclosed(rest)):
                yield Heading(match.start(kind), len(mark), content)
        elif above := _line_above(text, match.start(), first):
            yield Heading(*above._replace(level=1 if mark[0] == "=" else 2))


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
            above = _line_above(text, begin, over.end(), indented=True)
            start = over.start()
        else:
            over = None
            above = _line_above(text, begin, 0)
            start = above.start if above else 0
        if above and len(mark) >= min(_SHORTEST_ADORNMENT, len(above.text)):
            level = levels.setdefault((mark[0], over is not None), len(levels) + 1)
            previous = None  # the same line is not the overline of what follows
            yield Heading(start, level, above.text)


def _line_above(text: str, below: int, first: int, *, indented: bool = False) -> Heading | None:
    """The line that ends before ``below`` if it may be a heading and nothing but an empty line, or ``first``, stands above it."""
    begin = text.rfind("\n", 0, max(below - 1, 0)) + 1
    line = text[begin : max(below - 1, 0)]
    if begin < first or not 0 < len(line) <= LONGEST or not any(map(str.isalnum, line)):
        return None
    if not indented and (_NO_HEADING.match(line) or text[_line_start(text, begin, first) : begin].strip()):
        return None
    return Heading(begin + len(line) - len(line.lstrip()), 0, one_line(line))


def _line_start(text: str, begin: int, first: int) -> int:
    """Where the line before the one that begins at ``begin`` begins; not before ``first``."""
    return max(text.rfind("\n", 0, max(begin - 1, 0)) + 1, min(first, begin))


def _rest(text: str, begin: int) -> str:
    """What stands on the line from ``begin``."""
    end = text.find("\n", begin)
    return text[begin : end if end >= 0 else len(text)].strip()


def _unclosed(content: str) -> str:
    """The text of a heading without the ``#`` that may close it."""
    bare = content.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else content
