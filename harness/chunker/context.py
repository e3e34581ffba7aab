"""``context``: the title or headings that are put before a chunk's text when it is embedded or indexed."""

from __future__ import annotations

import re
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

    ``title``: the document's title; of a file without one its first heading, else its name without the ending.
    ``heading_path``: the title and the headings above the chunk, highest first, joined by `` > ``; headings that the
    chunk itself begins with are in its text already. A title that the corpus puts before every chunk (``embed_prefix``)
    is not put there twice, nor is a heading that equals the title.
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
    paths: dict[int, str] = {-1: _joined([title], said)}
    parents = _parents(found) if by_heading else []
    heading = -1
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        nonblank = _NONBLANK.search(document.text, start, end)
        begin = nonblank.start() if nonblank else start
        while heading + 1 < len(parents) and found[heading + 1].start <= begin:
            heading += 1
        # Its own heading stands in the chunk, so it is under the one above that.
        own = heading >= 0 and found[heading].start == begin
        under = parents[heading] if own else heading
        if under not in paths:
            paths[under] = _joined([title, *_chain(found, parents, under)], said)
        yield paths[under]


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


def _parents(found: Sequence[Heading]) -> list[int]:
    """For each heading the last one before it of a higher level; -1 where there is none."""
    parents: list[int] = []
    open_: list[int] = []
    for position, heading in enumerate(found):
        while open_ and found[open_[-1]].level >= heading.level:
            open_.pop()
        parents.append(open_[-1] if open_ else -1)
        open_.append(position)
    return parents


def _chain(found: Sequence[Heading], parents: Sequence[int], heading: int) -> list[str]:
    """The texts of a heading and of those above it, highest first."""
    chain: list[str] = []
    while heading >= 0:
        chain.append(found[heading].text)
        heading = parents[heading]
    return chain[::-1]


def _joined(path: list[str], said: str) -> str:
    """``path`` (a title, then headings) as one line with its end, without what was said before it."""
    title, *below = path
    if below[:1] == [title]:
        del below[0]
    shown = _BETWEEN.join(part for part in ("" if title == said else title, *below) if part)
    return f"{shown}\n" if shown else ""
