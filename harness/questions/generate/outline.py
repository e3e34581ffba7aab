"""Which headings the text stands under."""

from __future__ import annotations

import re

_MARKS = re.compile(r"[*_`]+|</?[a-zA-Z][^<>]*>|\{#[^}]*\}|!?\[([^\]]*)\]\([^)]*\)")


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
        """A heading whose level is told by its line alone: the first mark in the text is the outermost (as in reStructuredText)."""
        if mark not in self._underlines:
            self._underlines.append(mark)
        self.enter(title, self._underlines.index(mark) + 1)
