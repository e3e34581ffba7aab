"""Where the blocks of a Markdown text begin: headings, code, tables, paragraphs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import yaml

from harness.records import IntArray
from harness.text.encodings import unified

# Kinds of blocks; 1 to 6 are headings of that level.
TEXT, CODE, TABLE = 0, -1, -2
# A longer line is a paragraph with a rule under it, or no line that anybody reads as a heading.
LONGEST = 200

# A run of blank lines, or a line with its end.
_LINE = re.compile(r"[ \t\r\n]*[\r\n]|[^\r\n]+(?:\r\n|\r|\n)?")
_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})([^\r\n]*)")
# What begins with one of these is HTML up to its end, whatever stands between; commonly a comment.
_HTML = (
    (re.compile(r" {0,3}<!--").match, re.compile("-->").search),
    (re.compile(r" {0,3}<\?").match, re.compile(r"\?>").search),
    (
        re.compile(r" {0,3}<(?:pre|script|style|textarea)(?=[\s>])", re.IGNORECASE).match,
        re.compile(r"</(?:pre|script|style|textarea)>", re.IGNORECASE).search,
    ),
)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t\r\n]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*[\r\n]*")
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?[\r\n]*")
# Comments, then a key or a template's braces; from there on keys, comments, lists, blank and indented lines.
# After blank lines only a key in lower case is one: "Note: ..." may be prose between rules. Or TOML.
_END, _KEY = r"(?>\r\n?|\n)", r"[\"']?[\w.$-]+(?: [\w.$-]+){0,2}[\"']?[ \t]*:(?=\s)"
_FRONT_MATTER = re.compile(
    rf"---[ \t]*{_END}(?=(?:#[^\r\n]*{_END})*(?:{{|{_KEY})|(?:(?:#[^\r\n]*)?{_END})*[a-z][\w.$-]*:\s)"
    rf"(?P<yaml>(?>(?:(?:[ \t#{{}}\]-]|{_KEY})[^\r\n]*)?{_END})*?)(?:---|\.\.\.)[ \t]*(?:{_END}|\Z)"
    rf"|\+\+\+[ \t]*{_END}(?P<toml>(?>(?!\+\+\+)[^\r\n]*{_END})*)\+\+\+[ \t]*(?:{_END}|\Z)"
)
_TITLE_LINE = re.compile(r"^[\"']?title[\"']?[ \t]*[:=][ \t]*([^\r\n]*)", re.MULTILINE | re.IGNORECASE)
# What may be underlined: no item, quotation, table, code or HTML, and no rule.
_TITLE = re.compile(
    r" {0,3}(?![>|<\s]|(?:[-*+]|\d{1,9}[.)])(?:\s|$))"
    rf"(?=[^\r\n]{{1,{LONGEST}}}(?:[\r\n]|$))[^\r\n]*[^\W_]"
)


class Blocks(NamedTuple):
    """``starts``: int64 (blocks,), ascending, the first 0; a block ends where the next one begins.

    ``kinds``: int64 (blocks,).
    """

    starts: IntArray
    kinds: IntArray


# Chunks, their parents and the headings above them come from one text after another: it is read once.
@lru_cache(maxsize=1)
def read_blocks(text: str) -> Blocks:
    """The blocks of ``text``; together they hold all of it. Nothing is nested.

    Headings are of both kinds (``#``, and one line of at most 200 characters underlined), code is fenced,
    tables are those with ``|`` and a line of dashes; the rest is paragraphs. Rules: CommonMark 0.31 and
    GitHub's tables, without nesting in lists and quotes. Front matter counts as code: from a first line
    ``---`` to the next ``---`` or ``...``, where what is between looks like YAML, or from ``+++`` to ``+++``.
    HTML comments, scripts, styles and ``<pre>`` are paragraphs, whatever stands in them.
    """
    reader = _Reader()
    front = _FRONT_MATTER.match(text)
    if front:
        reader.begin(0, CODE)
    for match in _LINE.finditer(text, front.end() if front else 0):
        reader.line(match.start(), match[0])
    starts, kinds = reader.starts or [0], reader.kinds or [TEXT]
    # Blank lines before the first block are its own.
    return Blocks(np.array([0, *starts[1:]], np.int64), np.array(kinds, np.int64))


def front_matter_title(text: str) -> str:
    """The ``title`` in the front matter of ``text``, in YAML or TOML; empty where there is none."""
    front = _FRONT_MATTER.match(text)
    if not front:
        return ""
    inner = unified(front["yaml"] or front["toml"] or "")
    try:
        fields = _read_yaml(inner) if front["toml"] is None else tomllib.loads(inner)
    except (yaml.YAMLError, ValueError, RecursionError):  # "title: A: B" is no YAML, and people write it
        line = _TITLE_LINE.search(inner)
        fields = {"title": line[1].strip(" \t\"'")} if line else {}
    given = next((fields[key] for key in fields if str(key).lower() == "title"), "")
    return given if isinstance(given, str) else ""


def _read_yaml(text: str) -> dict[str, Any]:
    """The fields of a YAML mapping, all of them texts: a title may be a number or a date."""
    fields = yaml.load(text, yaml.BaseLoader)  # noqa: S506 - it makes texts, lists and dictionaries only
    return fields if isinstance(fields, dict) else {}


class _Reader:
    """Reads line by line.

    ``fence``: what closes the code that is open, and how far in at most. ``lines``: of the open paragraph;
    ``last``: the last of them.
    """

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.kinds: list[int] = []
        self.fence = ("", 0)
        self.html_ends: Callable[[str], object] | None = None  # whether a line ends the HTML that is open
        self.lines = 0
        self.last = (0, "")

    def line(self, start: int, line: str) -> None:
        fence = _FENCE.match(line)
        if self.fence[0]:
            self._code(fence)
        elif not line.strip():
            self.lines = 0
        elif ends := self.html_ends or next((ends for begins, ends in _HTML if begins(line)), None):
            self.html_ends = None if ends(line) else ends
            self._paragraph(start, "")
        elif fence and not (fence[2][0] == "`" and "`" in fence[3]):
            self.begin(start, CODE)
            # In a list all of it is indented.
            self.fence = (fence[2], _indent(fence) + 3)
        elif heading := _HEADING.match(line):
            self.begin(start, len(heading[1]))
        else:
            self._text(start, line)

    def begin(self, start: int, kind: int) -> None:
        self.starts.append(start)
        self.kinds.append(kind)
        self.lines = 0

    def _code(self, fence: re.Match[str] | None) -> None:
        marks, most = self.fence
        if fence and fence[2].startswith(marks) and _indent(fence) <= most and not fence[3].strip():
            self.fence = ("", 0)

    def _text(self, start: int, line: str) -> None:
        if self._is_in_table():
            if "|" not in line:
                self._paragraph(start, line)
            return
        _, above = self.last
        if self.lines and "|" in line and "|" in above and _DELIMITERS.fullmatch(line):
            self._table()
        elif self.lines == 1 and _UNDERLINE.fullmatch(line) and _TITLE.match(above):
            self.kinds[-1] = 1 if "=" in line else 2
            self.lines = 0
        else:
            self._paragraph(start, line)

    def _paragraph(self, start: int, line: str) -> None:
        if self._is_in_table() or not self.lines:
            self.begin(start, TEXT)
        self.lines += 1
        self.last = (start, line)

    def _is_in_table(self) -> bool:
        return self.lines > 0 and self.kinds[-1] == TABLE

    def _table(self) -> None:
        """The line before this one was a table's first."""
        if self.lines > 1:
            self.begin(self.last[0], TABLE)
        self.kinds[-1] = TABLE
        self.lines = 1


def _indent(fence: re.Match[str]) -> int:
    return len(fence[1].expandtabs(4))
