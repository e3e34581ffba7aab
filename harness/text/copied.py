"""What becomes of a text when it is copied: markup is lost, the ends are changed, something is left out."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.text.forms import SPACED, TYPED, Edit, Form, in_form
from harness.text.words import is_unspaced, size

_END = r"(?=[\r\n]|\Z)"
# Patterns begin with characters, not with a choice or a place: that is several times faster.
_LINE = re.compile(
    rf"[\r\n][ \t]*(?:(?:`{{3,}}|~{{3,}})[^`\r\n]*{_END}|[-=|:+*_][-=|:+*_ \t]*{_END}"
    r"|(?:>(?!=)[ \t]*|[-*+•‣◦▪–—][ \t]+|\[[ xX]\][ \t]+|#{1,6}[ \t]+)+)"
)
_NUMBER = re.compile(r"[\r\n][> \t]*\d{1,3}[.)](?=[ \t])")
# A bullet or the like where line breaks were lost; but not a sign or an operator before a number.
_BULLET = re.compile(r"[-*•‣◦▪–—#\[](?:(?<=\s\[)[ xX]\]|(?<=\s[^\[])#*)(?=\s+\D)")
_CLOSING = re.compile(rf"(?:##*|{{#[\w-]+}})[ \t]*{_END}")
_LINK = re.compile(
    r"\[([^\[\]]*)(?:\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)|\](\[[^\[\]\r\n]*\]))"
)
_INLINE_TAG = (
    "abbr|a|bdi|bdo|b|cite|code|data|del|dfn|em|font|ins|i|kbd|label|mark|q|samp|small|span|strike|strong|"
    "sub|sup|s|time|tt|u|var|wbr"
)
_BLOCK_TAG = (
    "article|aside|blockquote|body|br|button|caption|center|col|colgroup|details|div|d[dlt]|figcaption|figure|"
    "footer|h[1-6r]|header|html|img|input|li|main|nav|ol|pre|p|section|summary|table|tbody|tfoot|thead|t[dhr]|ul"
)
_MARK = re.compile(
    rf"<!--(?:[^-]|-(?!->))*-->|</?(?:({_BLOCK_TAG})|{_INLINE_TAG})"
    r"(?:\s+[\w:@.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?)*\s*/?>"
    r"|<((?:https?://|[\w.+-]+@)[^\s<>]+)>|&#?\w+;|\*\**|``*|~~|__*|\||\\[!-/:-@\[-`{-~]",
    re.IGNORECASE,
)
# What people put around a quote, in the form TYPED: quotation marks, an omission, a full stop.
_BEFORE = re.compile(r"(?:[\s\"']|[\[(]?\.\.\.[\])]?)*")
_AFTER = re.compile(r"(?:[\s\"'.,;:。।۔،؛、]|[\[(]\.\.\.[\])])*\Z")
_OMISSION = re.compile(r"\s*(?:[\[(]\s*)?(?:\.{3,}|…+)(?:\s*[\])])?\s*")
_FIRST_WORD = re.compile(r"\w*")
_MOST_AFTER = 20  # characters
_SHORTEST_PART = 6  # size: less stands in too many places


def _lines(text: str) -> Iterator[Edit]:
    return ((match.start(), match.end() - 1, "") for match in _LINE.finditer(f"\n{text}"))


def _numbers(text: str) -> Iterator[Edit]:
    return ((match.start(), match.end() - 1, "") for match in _NUMBER.finditer(f"\n{text}"))


def _bullets(text: str) -> Iterator[Edit]:
    return ((*match.span(), "") for match in _BULLET.finditer(text))


def _closings(text: str) -> Iterator[Edit]:
    """Behind headings: ``##`` and ``{#anchor}``."""
    return (
        (*match.span(), "")
        for match in _CLOSING.finditer(text)
        if text[match.start() - 1 : match.start()].isspace()
    )


def _links(text: str) -> Iterator[Edit]:
    for match in _LINK.finditer(text):
        start, end = match.span()
        shown, before = match[1], text[max(0, start - 1) : start]
        is_index = match[2] and (before.isalnum() or shown.isdigit())  # a[i][1], [3][4]
        if not (is_index or _are_digits(before, shown[:1]) or _are_digits(shown[-1:], text[end : end + 1])):
            yield start - (before == "!"), start + 1, ""
            yield match.end(1), end, ""


def _marks(text: str) -> Iterator[Edit]:
    run: list[Edit] = []
    for match in _MARK.finditer(text):
        if run and run[-1][1] != match.start():
            yield from _droppable(text, run)
            run = []
        mark, (start, end) = match[0], match.span()
        if match[2]:
            run += [(start, start + 1, ""), (end - 1, end, "")]
            continue
        new = " " if mark == "|" or match[1] else mark[1] if mark[0] == "\\" else ""
        new = html.unescape(mark) if mark[0] == "&" else new
        if new != mark:
            run.append((start, end, new))
    yield from _droppable(text, run)


def _droppable(text: str, run: list[Edit]) -> list[Edit]:
    """The neighbouring marks, unless they part digits or words: 2**3, snake_case, 10<sup>2</sup>, a * b."""
    if not run or any(new for _, _, new in run):
        return run
    before, after = text[max(0, run[0][0] - 1) : run[0][0]], text[run[-1][1] : run[-1][1] + 1]
    if _are_digits(before, after):
        return []
    if text[run[0][0]] not in "*`~_":
        return run
    is_within = before.isalnum() and after.isalnum() and not (is_unspaced(before) or is_unspaced(after))
    return [] if is_within or (before + after).isspace() else run


def _are_digits(before: str, after: str) -> bool:
    return before.isdigit() and after.isdigit()


UNMARKED: Form = (_lines, _closings, _bullets, _links, _links, _marks, *TYPED)
"""Links by their texts (an image may stand in one), entities decoded, no other signs; TYPED.

Nothing is dropped between two digits, and no ``*`` or ``_`` within a word.
"""
CLEANED: Form = (_numbers, *UNMARKED)
"""As a loader leaves it that has rendered Markdown: also without the numbers of lists."""
FORMS = {
    "with other white space": SPACED,
    "with other typography": TYPED,
    "without Markdown or HTML": UNMARKED,
}
"""The normal forms in which a text is looked for, the strictest first, each with what is said of it."""
WAYS = ("as written", *FORMS, "with another beginning or end", "with an omission")
"""All that is said of how quotes were found."""


def bare(text: str) -> str:
    """``text`` in the loosest form, for comparisons."""
    return in_form(UNMARKED, text).text.strip()


def way_of(text: str, found: str) -> str:
    """In which way ``text`` was found as the characters ``found`` of a document, for messages."""
    if text == found:
        return WAYS[0]
    for way, form in FORMS.items():
        if in_form(form, text).text.strip() == in_form(form, found).text.strip():
            return way
    return WAYS[-2]


class Sought(NamedTuple):
    """A text in a normal form: what must stand in a document, and what may stand before and after it."""

    before: str
    core: str
    after: str

    @property
    def cores(self) -> set[str]:
        """The core, and with its first word in other capitals."""
        first = (_FIRST_WORD.match(self.core) or [""])[0]
        words = {first.lower(), first.upper(), first[:1].upper() + first[1:], first[:1].lower() + first[1:]}
        return {
            word + self.core[len(first) :]
            for word in {first, first.capitalize(), *words}
            if len(word) == len(first)
        }

    def around(self, text: str, start: int) -> tuple[int, int]:
        """The span of the core at ``start``, with what is before it and after it where that stands there.

        Quotation marks around it count as a pair.
        """
        end = start + len(self.core)
        has_before, has_after = text.endswith(self.before, 0, start), text.startswith(self.after, end)
        if any(mark in self.before and mark in self.after for mark in "\"'"):
            has_before = has_after = has_before and has_after
        return start - has_before * len(self.before), end + has_after * len(self.after)


def sought_in(text: str, form: Form) -> Sought:
    """``text`` in a normal form, its core parted from its ends; with SPACED all of it is the core."""
    normal = in_form(form, text).text.strip()
    if form is SPACED:
        return Sought("", normal, "")
    first = _BEFORE.match(normal)
    start = first.end() if first else 0
    last = _AFTER.search(normal, max(start, len(normal) - _MOST_AFTER))
    end = last.start() if last else len(normal)
    return Sought(normal[:start], normal[start:end], normal[end:])


def parts_of(quote: str) -> list[str]:
    """What is left of a quote in which something is left out ("...", "[…]"), in order.

    Nothing without an omission in the middle, or with a part that is too short to be looked for.
    """
    parts = [part for part in _OMISSION.split(quote) if part.strip("\"'“”„ ")]
    return parts if len(parts) > 1 and all(size(part) >= _SHORTEST_PART for part in parts) else []
