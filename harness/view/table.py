"""The table of the terminal: numbers flush right, names whole, as many columns as the line has room for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from harness.cli.say import width

# Stands for a name that is too long for its column.
_LONG = "\ue000"
_GAP = 2


class Head(NamedTuple):
    """A column's heading and layout.

    ``left``: texts are flush left, otherwise right. ``optional``: left out, from the right, where the line
    has no room. ``wraps``: broken at blanks before anything is left out. ``dim``: pale on a terminal.
    """

    title: str
    left: bool = False
    optional: bool = False
    wraps: bool = False
    dim: bool = False


class TextTable:
    """Rows of texts below their headings, as wide as the terminal; in a pipe 80 columns, or ``COLUMNS``.

    The column at place ``name`` is never cut: a name that is too long stands on a line of its own.
    ``shown`` are the places of the columns that the line has room for.
    """

    def __init__(self, heads: Sequence[Head], rows: Sequence[Sequence[str]], *, name: int = 0) -> None:
        self.heads, self.rows, self.name = heads, rows, name
        self.limit = width()
        columns = [[head.title, *(row[i] for row in rows)] for i, head in enumerate(heads)]
        self._full = [max(map(cell_len, texts)) for texts in columns]
        self._least = [
            max((cell_len(word) for text in texts for word in text.split()), default=0)
            if head.wraps
            else full
            for head, texts, full in zip(heads, columns, self._full, strict=True)
        ]
        self.shown = list(range(len(heads)))
        for i in reversed(range(len(heads))):
            if heads[i].optional and self._spare() < 0:
                self.shown.remove(i)

    def lines(self) -> list[str]:
        """The headings, a rule, and the rows."""
        from rich.box import Box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        sizes = self._sizes()
        rule = Box("    \n    \n -- \n    \n    \n    \n    \n    \n")
        table = Table(box=rule, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0), header_style="")
        for i in self.shown:
            table.add_column(
                Text(self.heads[i].title),
                justify="left" if self.heads[i].left else "right",
                width=sizes[i],
                no_wrap=not self.heads[i].wraps,
                style="dim" if self.heads[i].dim else "",
                header_style="dim" if self.heads[i].dim else "",
            )
        for row in self.rows:
            table.add_row(*(Text(_LONG if self._is_long(i, row, sizes) else row[i]) for i in self.shown))
        total = sum(sizes.values()) + _GAP * (len(sizes) - 1)
        on_terminal = sys.stdout.isatty()
        console = Console(
            width=total, force_terminal=on_terminal, color_system="standard" if on_terminal else None
        )
        with console.capture() as capture:
            console.print(table)
        long = (row[self.name] for row in self.rows if self._is_long(self.name, row, sizes))
        lines: list[str] = []
        for line in capture.get().splitlines():
            before, found, after = line.partition(_LONG)
            if found:
                lines.append(before + next(long))
            lines.append((f"{' ' * (cell_len(before) + 1)}{after}" if found else line).rstrip())
        return lines

    def _spare(self) -> int:
        """What is left of the line when every column is as narrow as it may be; negative if too wide."""
        return self.limit - sum(self._least[i] + _GAP for i in self.shown) + _GAP

    def _sizes(self) -> dict[int, int]:
        """The width of each shown column: as narrow as it may be, but columns that wrap share the rest."""
        sizes, spare = {i: self._least[i] for i in self.shown}, self._spare()
        if spare < 0:
            room = sizes[self.name] + spare
            names = [
                cell_len(text)
                for text in (self.heads[self.name].title, *(row[self.name] for row in self.rows))
            ]
            sizes[self.name] = max([1, *(size for size in names if size <= room)])
            spare = room - sizes[self.name]
        for i in self.shown:
            more = min(max(0, spare), self._full[i] - self._least[i]) if self.heads[i].wraps else 0
            sizes[i] += more
            spare -= more
        return sizes

    def _is_long(self, place: int, row: Sequence[str], sizes: Mapping[int, int]) -> bool:
        return place == self.name and cell_len(row[place]) > sizes[place]
