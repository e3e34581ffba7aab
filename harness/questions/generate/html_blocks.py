"""The source of a web page as stretches of text between block tags."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from harness.questions.generate.outline import Outline
from harness.records import Document

_LEFT_OUT = "head|script|style|nav|header|footer|svg|template|noscript|aside|form|button|select|pre"
_TAG = re.compile(
    rf"<!--.*?-->|<({_LEFT_OUT})\b[^<>]*>.*?</\1\s*>|<[!?][^<>]*>|</?([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
_INLINE = "a abbr b bdi bdo cite code data dfn em font i img input kbd label mark q s samp small span strong sub sup time tt u var wbr"
_OPENING = re.compile(r"\s*(?:<!doctype html|<html|<\?xml[^>]*>\s*<!doctype html)", re.IGNORECASE)


def is_html(document: Document) -> bool:
    """Whether the document is HTML source: by its name, or by how it begins."""
    return document.doc_id.lower().endswith((".html", ".htm", ".xhtml")) or bool(
        _OPENING.match(document.text[:500])
    )


def html_blocks(text: str) -> Iterator[tuple[int, int, tuple[str, ...], int]]:
    """Start, end and headings of each stretch of text, and where its heading begins if it stands right below it, else ``start`` again.

    Inline tags are included; navigation, forms, scripts and code are left out.
    """
    outline, inline = Outline(), set(_INLINE.split())
    level, start = 0, 0  # of the heading that is open, 0 for none
    section: int | None = None
    for match in _TAG.finditer(text):
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
