"""Normal forms in which quotes are compared: white space, typography and markup aside, with the way back.

A normal form is a tuple of steps. A step gives the edits of a text, in order and apart.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import regex  # type: ignore[import-untyped] # it ships no types

Edit: TypeAlias = tuple[int, int, str]
"""Where a piece of a text begins and ends, and what stands for it."""
Form: TypeAlias = tuple[Callable[[str], Iterator[Edit]], ...]

_SPACE = re.compile(r"\s(?:(?<! )\s*|\s+)")  # all but a single blank
_DROPPED = regex.compile(r"[\p{Default_Ignorable_Code_Point}\u0640]")
_CLUSTER = regex.compile(r"(?=.[\p{M}\u1160-\u11ff])\X", regex.DOTALL)
_REPEATED = re.compile(r"\.\.\.\.+|---?|×")
_TYPED = {
    **dict.fromkeys("‘’‚‛‹›′´ʼ׳", "'"),
    **dict.fromkeys("“”„‟«»″〝〞〟「」『』״", '"'),
    **dict.fromkeys("‐‒–—―−⁃", "-"),
    **dict.fromkeys("≥⩾", ">="),
    **dict.fromkeys("≤⩽", "<="),
    "≠": "!=",
}
_SPECIAL = regex.compile(
    r"(?V1)[[^\x00-\x7f]&&[\p{Default_Ignorable_Code_Point}\u0640\p{NFC_QC=N}[\P{dt=None}--\p{dt=Canonical}]"
    f"{''.join(_TYPED)}]]"
)
# Not those that would turn 10² into 102, or 1½ into 11/2.
_COMPATIBLE = frozenset(
    f"<{kind}>"
    for kind in (
        *("compat", "font", "initial", "medial", "final", "isolated"),
        *("wide", "narrow", "small", "square", "noBreak"),
    )
)


class _Step(NamedTuple):
    """Where each edited piece stood in the old text, and where its replacement stands in the new one."""

    old_starts: array[int]
    old_ends: array[int]
    starts: array[int]
    ends: array[int]

    def source(self, at: int) -> tuple[int, int]:
        """The span of the old text that the character ``at`` of the new one comes from."""
        i = bisect_right(self.starts, at) - 1
        if i >= 0 and at < self.ends[i]:
            return self.old_starts[i], self.old_ends[i]
        old = at if i < 0 else self.old_ends[i] + at - self.ends[i]
        return old, old + 1


class NormalText(NamedTuple):
    """A text in a normal form, and the steps that led to it."""

    text: str
    steps: tuple[_Step, ...] = ()

    def source(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text, from its first character to its last, that became this one."""
        for step in reversed(self.steps):
            start, end = step.source(start)[0], step.source(end - 1)[1]
        return start, end

    def edited(self, edits: Iterator[Edit]) -> NormalText:
        """The text with ``edits`` made."""
        step = _Step(*(array("q") for _ in range(4)))
        pieces: list[str] = []
        last = shift = 0
        for start, end, new in edits:
            pieces += (self.text[last:start], new)
            step.old_starts.append(start)
            step.old_ends.append(end)
            step.starts.append(start + shift)
            shift += len(new) - (end - start)
            step.ends.append(end + shift)
            last = end
        return NormalText("".join((*pieces, self.text[last:])), (*self.steps, step)) if pieces else self


def in_form(form: Form, text: str) -> NormalText:
    """``text`` in the normal form."""
    normal = NormalText(text)
    for step in form:
        normal = normal.edited(step(normal.text))
    return normal


def _spaces(text: str) -> Iterator[Edit]:
    return ((*match.span(), " ") for match in _SPACE.finditer(text))


def _characters(text: str) -> Iterator[Edit]:
    found = _SPECIAL.finditer("" if text.isascii() else text)
    return ((*match.span(), _plain(match[0])) for match in found)


def _clusters(text: str) -> Iterator[Edit]:
    for match in _CLUSTER.finditer("" if unicodedata.is_normalized("NFC", text) else text):
        composed = unicodedata.normalize("NFC", match[0])
        if composed != match[0]:
            yield *match.span(), "".join(map(_plain, composed))


def _repeats(text: str) -> Iterator[Edit]:
    """Longer ellipses, dashes typed as two or three hyphens (not options such as --help), 3 × 4."""
    for match in _REPEATED.finditer(text):
        start, end = match.span()
        before, after = text[max(0, start - 2) : start], text[end : end + 2]
        if match[0][0] == ".":
            yield start, end, "..."
        elif match[0] == "×":
            if before.rstrip()[-1:].isalnum() and after.lstrip()[:1].isdigit():
                yield start, end, "x"
        elif (before[-1:].isalnum() and after[:1].isalnum()) or (before[-1:] + after[:1]).isspace():
            yield start, end, "-"


@lru_cache(10_000)
def _plain(character: str) -> str:
    if character in _TYPED or _DROPPED.match(character):
        return _TYPED.get(character, "")
    kind, *codes = unicodedata.decomposition(character).split() or [""]
    if kind not in _COMPATIBLE:
        return unicodedata.normalize("NFC", character)
    plain = "".join(_plain(chr(int(code, 16))) for code in codes)
    is_other = any(map(str.isspace, plain)) or (len(plain) > 1 and any(map(str.isdigit, plain)))
    return character if is_other else plain


SPACED: Form = (_spaces,)
"""One blank for each run of white space."""
TYPED: Form = (_characters, _clusters, _repeats, *SPACED)
"""As it is typed: NFC, straight quotation marks, hyphens, three dots, ``>=``, nothing invisible; SPACED.

Ligatures become letters. Digits and letters stay what they are: 10² is not 102.
"""
