"""A document's text as blocks in order: paragraphs and code, each with the headings above it.

Markdown, reStructuredText, wikitext and plain text are told apart line by line and not by the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from harness.questions.generate.markup import Outline, html_blocks, is_html
from harness.records import Document

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_HASHES = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_WIKI = re.compile(r" ?(=(?: ?=){0,5}) ([^=].*?) \1 ?$")
_RULE = re.compile(r"[ \t]*([!-/:-@\[-`{-~])(?:[ \t]*\1){2,}[ \t]*$")
_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)(?:.*?(?:\r\n|\r|\n))??\1[ \t]*(?:\r\n|\r|\n|$)", re.DOTALL
)
_DIRECTIVE = re.compile(r"[ \t]*\.\. ")
_SPOKEN_DIRECTIVE = re.compile(
    r"[ \t]*\.\. (?:note|warning|tip|hint|important|attention|caution|danger|admonition)::"
)
_LONG_LINE_CHARACTERS = 160  # nobody wraps lines so late: each is a paragraph of its own
_TITLE_CHARACTERS = 120

Kind = Literal["text", "code"]


class TextBlock(NamedTuple):
    """``text[start:end]`` without white space at its ends, and the headings above it, outermost first.

    ``section``: where its innermost heading begins if nothing else stands between the two, else ``start``.
    """

    start: int
    end: int
    kind: Kind
    path: tuple[str, ...]
    section: int


def blocks_of(document: Document) -> Iterator[TextBlock]:
    """The blocks of ``document``; headings, rules, front matter and directives are none."""
    if is_html(document):
        for start, end, path, section in html_blocks(document.text):
            yield TextBlock(start, end, "text", path, section)
    else:
        yield from _Lines(document.text).blocks()


class _Lines:
    """Lines of a text, put together to blocks."""

    def __init__(self, text: str) -> None:
        self._text = text
        matter = _MATTER.match(text)
        spans = [match.span() for match in _LINE.finditer(text, matter.end() if matter else 0)]
        self._starts = [start for start, end in spans if end > start]
        self._lines = [text[start:end].rstrip() for start, end in spans if end > start]
        self._outline = Outline()
        self._section: int | None = None

    def blocks(self) -> Iterator[TextBlock]:
        at, first = 0, 0  # the lines from ``first`` to ``at`` are a paragraph that may go on
        while at < len(self._lines):
            fence = _FENCE.match(self._lines[at])
            taken = 0 if fence else self._heading(at, is_first=at == first)
            if not (fence or taken or not self._lines[at] or _RULE.match(self._lines[at])):
                at += 1
                continue
            yield from self._paragraph(first, at)
            if fence:
                end = self._end_of_code(at, fence[1])
                yield self._block(at, end, "code")
                at = end
            else:
                at += self._enter(at, taken) if taken else 1
            first = at
        yield from self._paragraph(first, at)

    def _end_of_code(self, at: int, fence: str) -> int:
        for end in range(at + 1, len(self._lines)):
            closing = _FENCE.match(self._lines[end])
            if closing and closing[1].startswith(fence) and self._lines[end].strip(" \t>") == closing[1]:
                return end + 1
        return len(self._lines)

    def _heading(self, at: int, *, is_first: bool) -> int:
        """How many lines from ``at`` on are a heading; 0 when it is none."""
        line = self._lines[at]
        if _HASHES.match(line) or _WIKI.match(line):
            return 1
        if is_first and self._is_underlined(at):
            return 2
        if is_first and _RULE.match(line) and self._is_underlined(at + 1):
            return 3 if self._lines[at + 2].strip()[:1] == line.strip()[:1] else 0
        return 0

    def _is_underlined(self, at: int) -> bool:
        if at + 1 >= len(self._lines):
            return False
        title, under = self._lines[at].strip(), self._lines[at + 1].strip()
        is_line = bool(_RULE.match(under)) and len(set(under)) == 1 and under[0] in "=-~^\"'*+#`:._"
        return (
            is_line
            and 0 < len(title) <= _TITLE_CHARACTERS
            and 2 * len(under) >= len(title)
            and not _RULE.match(title)
            and title[0] != "|"
        )

    def _enter(self, at: int, taken: int) -> int:
        self._section = self._starts[at]
        if taken == 1:
            match = _HASHES.match(self._lines[at]) or _WIKI.match(self._lines[at])
            if match:
                self._outline.enter(match[2], match[1].count("#") or match[1].count("="))
        else:
            title, under = self._lines[at + taken - 2], self._lines[at + taken - 1]
            self._outline.enter_underlined(title.strip(), under.strip()[0] * (taken - 1))
        return taken

    def _paragraph(self, first: int, end: int) -> Iterator[TextBlock]:
        if first == end or (
            _DIRECTIVE.match(self._lines[first]) and not _SPOKEN_DIRECTIVE.match(self._lines[first])
        ):
            return
        if max(len(line) for line in self._lines[first:end]) > _LONG_LINE_CHARACTERS and not self._lines[
            first
        ].lstrip().startswith("|"):
            for line in range(first, end):
                yield self._block(line, line + 1, "text")
        else:
            yield self._block(first, end, "text")

    def _block(self, first: int, end: int, kind: Kind) -> TextBlock:
        line = self._lines[first]
        last = end - 1
        while last > first and not self._lines[last]:
            last -= 1
        start = self._starts[first] + len(line) - len(line.lstrip())
        section, self._section = self._section, None
        return TextBlock(
            start,
            self._starts[last] + len(self._lines[last]),
            kind,
            self._outline.path,
            start if section is None else section,
        )
