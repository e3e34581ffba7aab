"""``context``: the title or headings that are put before a chunk's text when it is embedded or indexed."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.errors import SettingError
from harness.records import Chunks, Document, IntArray
from harness.text.headings import Heading, headings, one_line

CONTEXTS = ("none", "title", "heading_path")
_BETWEEN = " > "
_NONBLANK = re.compile(r"\S")
_ENDING = re.compile(r"(?<=.)\.[A-Za-z]\w{0,7}$")  # of a file's name; the 2 of "v1.2" is none


def check_context(context: object) -> None:
    """Raises ``SettingError`` unless ``context`` is one of ``CONTEXTS``."""
    if context not in CONTEXTS:
        shown = "empty" if context in (None, "") else context
        raise SettingError(f"context is {shown}; allowed are {', '.join(CONTEXTS)}.", key="context")


def with_context(chunks: Chunks, context: str) -> Chunks:
    """The same chunks, a line before the text of each when it is embedded or indexed. Spans and sizes stay.

    ``title``: the document's title; of a file without one its first heading, else its name without the
    ending. ``heading_path``: the title and the headings above the chunk, highest first, joined by `` > ``;
    headings that the chunk itself begins with are in its text already. A title that the corpus puts before
    every chunk (``embed_prefix``) is not put there twice, nor is a heading that equals the title.
    """
    check_context(context)
    if context == "none":
        return chunks
    lines: list[str] = []
    for position, document in enumerate(chunks.documents):
        first, last = chunks.doc_rows[position : position + 2]
        starts, ends = chunks.start[first:last], chunks.end[first:last]
        lines += _lines(document, starts, ends, by_heading=context == "heading_path")
    return replace(chunks, context=lines)


def _lines(document: Document, starts: IntArray, ends: IntArray, *, by_heading: bool) -> Iterator[str]:
    """The line for each span of ``document``; empty where there is nothing to say."""
    if not len(starts):
        return
    found = headings(document.doc_id, document.text)
    title = _title(document, found)
    said = title if one_line(document.embed_prefix) == title else ""
    ahead = deque(found if by_heading else ())
    path: list[Heading] = []
    lines: dict[str, str] = {}  # each held once, however many chunks it stands before
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        nonblank = _NONBLANK.search(document.text, start, end)
        begin = nonblank.start() if nonblank else start
        while ahead and ahead[0].start <= begin:
            path = [heading for heading in path if heading.level < ahead[0].level]
            path.append(ahead.popleft())
        # A heading that the chunk begins with is in its text already.
        above = [heading.text for heading in path if heading.start < begin]
        line = _joined([title, *above], said)
        yield lines.setdefault(line, line)


def _title(document: Document, found: Sequence[Heading]) -> str:
    """The title on one line; empty where neither the document nor a heading gives one."""
    given = document.title or document.metadata.get("title")
    title = one_line(given) if isinstance(given, str) else ""
    name = document.doc_id.rpartition("/")[2]
    if title and title != one_line(name):
        return title
    if found:
        return found[0].text
    return one_line(_ENDING.sub("", name)) if title else ""


def _joined(path: list[str], said: str) -> str:
    """``path`` (a title, then headings) as one line with its end, without what was said before it."""
    title, *below = path
    if below[:1] == [title]:
        del below[0]
    shown = _BETWEEN.join(part for part in ("" if title == said else title, *below) if part)
    return f"{shown}\n" if shown else ""
