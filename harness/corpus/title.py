"""The title of a text file."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_LOOK_AT_CHARACTERS = 20_000


def title_of(doc_id: str, text: str) -> str:
    """The first Markdown heading (``# Refunds``) of a ``.md`` or ``.markdown`` file, else the file's name.

    A line in a fenced code block is no heading. Only the first 20,000 characters are looked at.
    """
    name = doc_id.rsplit("/", 1)[-1]
    if not name.lower().endswith((".md", ".markdown")):
        return name
    fenced = False
    for line in re.split(r"\r\n|\r|\n", text[:_LOOK_AT_CHARACTERS]):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (match := _HEADING.match(line)) and match[1]:
            return match[1]
    return name
