"""Cells of tables are texts; here they become the lists and numbers that they stand for."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

_NUMBER = re.compile(r"\s*-?\d+(\.0+)?\s*")
_PARTED = re.compile(r"[,;|\n]")


def is_given(value: Any) -> bool:
    """False for what says nothing: null, an empty or blank text, an empty list or object, not-a-number."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value not in ([], {}) and value == value  # noqa: PLR0124 - nan


def unpacked(value: Any) -> Any:
    """A text that is a list or an object, as JSON or as Python prints it (so pandas writes them), becomes that."""
    if not isinstance(value, str) or not value.strip().startswith(("[", "{")):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(value.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, (list, dict)):
            return found
    return value


def texts(value: Any) -> list[Any]:
    """One text or a list of them as a list. A text in brackets that is no list of texts ("[1]") is a text."""
    found = unpacked(value)
    if isinstance(found, list) and (isinstance(value, list) or all(isinstance(item, str) for item in found)):
        return [item for item in found if is_given(item)]
    return [value]


def ids(value: Any) -> list[Any]:
    """Ids: a list, or a text with commas, semicolons, bars or line breaks between them."""
    found = unpacked(value)
    if isinstance(found, dict):
        found = list(found)
    if isinstance(found, str):
        found = [part.strip() for part in _PARTED.split(found) if part.strip()]
    return found if isinstance(found, list) else [found]


def number(value: Any) -> Any:
    """A whole number that is written as a text, or as a float, as a number; anything else as it is."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(float(value)) if "." in value else int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
