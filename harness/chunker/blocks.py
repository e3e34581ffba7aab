"""Where the blocks of a Markdown text begin: headings, code, tables, paragraphs."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from harness.records import IntArray

# Kinds of blocks; 1 to 6 are headings of that level.
TEXT, CODE, TABLE = 0, -1, -2

# A run of blank lines, or a line with its end.
_LINE = re.compile(r"[ \t\r\n]*[\r\n]|[^\r\n]+(?:\r\n|\r|\n)?")
# Code inside a list is indented, so a fence may stand anywhere.
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\r\n]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t\r\n]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*[\r\n]*")
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?[\r\n]*")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n[^\s:]+:")
_ITEM = re.compile(r"[ \t]*(?:[-*+>|]|\d+[.)])(?:[ \t]|$)")


class Blocks(NamedTuple):
    """``starts``: int64 (blocks,), ascending, the first 0; a block ends where the next one begins. ``kinds``: int64 (blocks,)."""

    starts: IntArray
    kinds: IntArray


def read_blocks(text: str) -> Blocks:
    """The blocks of ``text``; together they hold all of it. Front matter counts as code. Nothing is nested.

    Headings are of both kinds (``#`` and underlined), code is fenced, tables are those with ``|`` and a line of
    dashes; the rest is paragraphs, between blank lines. Rules: CommonMark 0.31 and GitHub's tables, without nesting
    in lists and quotes.
    """
    reader = _Reader()
    if _FRONT_MATTER.match(text) and "\n---" in text:
        reader.open(0, "---")
    for match in _LINE.finditer(text, len(reader.fence)):
        reader.line(match.start(), match[0])
    starts, kinds = reader.starts or [0], reader.kinds or [TEXT]
    # Blank lines before the first block are its own.
    return Blocks(np.array([0, *starts[1:]], np.int64), np.array(kinds, np.int64))


class _Reader:
    """``fence``: what closes the code that is open. ``lines``: of the open paragraph. ``last``: its last line."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.kinds: list[int] = []
        self.fence = ""
        self.lines = 0
        self.last = (0, "")

    def line(self, start: int, line: str) -> None:
        if self.fence:
            if line.strip().startswith(self.fence) and not line.strip().strip(self.fence[0]):
                self.fence = ""
        elif not line.strip():
            self.lines = 0
        elif (fence := _FENCE.match(line)) and not (fence[1][0] == "`" and "`" in fence[2]):
            self.open(start, fence[1])
        elif heading := _HEADING.match(line):
            self._begin(start, len(heading[1]))
        else:
            self._text(start, line)

    def open(self, start: int, fence: str) -> None:
        """Code begins, up to a line of ``fence``."""
        self._begin(start, CODE)
        self.fence = fence

    def _begin(self, start: int, kind: int) -> None:
        self.starts.append(start)
        self.kinds.append(kind)
        self.lines = 0

    def _text(self, start: int, line: str) -> None:
        in_table = self.lines > 0 and self.kinds[-1] == TABLE
        if in_table and "|" in line:
            return
        if in_table or not self.lines:
            self._begin(start, TEXT)
        elif "|" in line and "|" in self.last[1] and _DELIMITERS.fullmatch(line):
            self._table()
            return
        elif self.lines == 1 and _UNDERLINE.fullmatch(line) and not _ITEM.match(self.last[1]):
            self.kinds[-1] = 1 if "=" in line else 2
            self.lines = 0
            return
        self.lines += 1
        self.last = (start, line)

    def _table(self) -> None:
        """The line before this one was a table's first."""
        if self.lines > 1:
            self._begin(self.last[0], TABLE)
        self.kinds[-1] = TABLE
        self.lines = 1
