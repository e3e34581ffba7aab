"""Markup: the headings above a place, the blocks of a web page, and text as a reader sees it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from harness.records import Document

_MARKS = re.compile(r"[*_`]+|</?[a-zA-Z][^<>]*>|\{#[^}]*\}|!?\[([^\]]*)\]\([^)]*\)")
_LEFT_OUT = "head|script|style|nav|header|footer|svg|template|noscript|aside|form|button|select|pre"
_BLOCK_TAG = re.compile(
    rf"<!--.*?-->|<({_LEFT_OUT})\b[^<>]*>.*?</\1\s*>|<[!?][^<>]*>|</?([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
_INLINE = (
    "a abbr b bdi bdo cite code data dfn em font i img input kbd label mark q s samp small span strong sub "
    "sup time tt u var wbr"
)
_OPENING = re.compile(r"\s*(?:<!doctype html|<html|<\?xml[^>]*>\s*<!doctype html)", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
LINK = re.compile(
    r"!?\[((?:[^\[\]]|!\[[^\]]*\])*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)?[^()]*\)|<a\b[^<>]*>(.*?)</a>|https?://\S+",
    re.DOTALL,
)


class Outline:
    """The headings above the current place. ``path``: their texts without markup, the outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._underlines: list[str] = []
        self.path: tuple[str, ...] = ()

    def enter(self, title: str, level: int) -> None:
        """A heading of ``level`` (1 is the outermost) closes all of its level and below."""
        self._open = [entry for entry in self._open if entry[0] < level]
        self._open.append((level, " ".join(_MARKS.sub(r"\1", title).split())))
        self.path = tuple(title for _, title in self._open if title)

    def enter_underlined(self, title: str, mark: str) -> None:
        """An underlined heading: the first mark in the text is the outermost (reStructuredText)."""
        if mark not in self._underlines:
            self._underlines.append(mark)
        self.enter(title, self._underlines.index(mark) + 1)


def is_html(document: Document) -> bool:
    """Whether the document is HTML source: by its name, or by how it begins."""
    return document.doc_id.lower().endswith((".html", ".htm", ".xhtml")) or bool(
        _OPENING.match(document.text[:500])
    )


def html_blocks(text: str) -> Iterator[tuple[int, int, tuple[str, ...], int]]:
    """Start, end, headings and section start of each stretch of text.

    Inline tags are included; navigation, forms, scripts and code are left out.
    """
    outline, inline = Outline(), set(_INLINE.split())
    level, start = 0, 0  # of the heading that is open, 0 for none
    section: int | None = None
    for match in _BLOCK_TAG.finditer(text):
        tag = (match[2] or "").lower()
        if tag in inline:
            continue
        if level:
            outline.enter(html.unescape(text[start : match.start()]), level)
        elif span := _trimmed(text, start, match.start()):
            yield *span, outline.path, span[0] if section is None else section
            section = None
        is_heading = len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" and match[0][1] != "/"
        level = int(tag[1]) if is_heading else 0
        section = match.start() if is_heading else section
        start = match.end()
    if span := _trimmed(text, start, len(text)):
        yield *span, outline.path, span[0] if section is None else section


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    inner = text[start:end]
    stripped = inner.strip()
    begin = start + len(inner) - len(inner.lstrip())
    return (begin, begin + len(stripped)) if stripped else None


def shown(text: str) -> str:
    """``text`` as a reader sees it: without tags and addresses, entities as characters."""
    if "<" in text:
        text = _TAG.sub("", text)
    if "](" in text or "://" in text:
        text = LINK.sub(lambda match: match[1] or match[2] or "", text)
    return html.unescape(text) if "&" in text else text
