"""Values out of a JSON object, each checked; what is wrong becomes a sentence."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any


class FieldError(ValueError):
    """One value is not as it must be; the message is a sentence without file and line."""


def check_keys(item: Mapping[str, Any], allowed: Collection[str], what: str) -> None:
    """Raises ``FieldError`` for a key that is not ``allowed``, with the nearest that is."""
    unknown = [key for key in item if key not in allowed]
    if unknown:
        near = difflib.get_close_matches(unknown[0].lower(), sorted(allowed), n=1)
        hint = (
            f"did you mean {json.dumps(near[0])}?" if near else f"allowed are {', '.join(sorted(allowed))}."
        )
        raise FieldError(f"unknown key {json.dumps(unknown[0], ensure_ascii=False)} in {what}; {hint}")


def one_of(item: Mapping[str, Any], keys: Sequence[str], what: str) -> str | None:
    """The one of ``keys`` that the object has, or None; two of them are a ``FieldError``."""
    present = [key for key in keys if item.get(key) is not None]
    if len(present) > 1:
        raise FieldError(f"{present[0]} and {present[1]} both give {what}; keep one of them.")
    return present[0] if present else None


def text(item: Mapping[str, Any], key: str) -> str:
    """A text that is not blank."""
    value = item.get(key)
    if not isinstance(value, str):
        raise FieldError(f"{key} is {shown(value)}; a text is expected.")
    if not value.strip():
        raise FieldError(
            f"{key} is {'empty' if not value else 'nothing but white space'}; a text is expected."
        )
    return value


def identifier(value: Any, key: str) -> str:
    """An id: a text that is not empty, or a whole number."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise FieldError(f"{key} is {shown(value)}; an id is a text that is not empty, or a whole number.")
    return str(value)


def whole_number(item: Mapping[str, Any], key: str) -> int | None:
    """A whole number, or None where the key is missing or null."""
    value = item.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise FieldError(f"{key} is {shown(value)}; a whole number is expected.")
    return value


def as_list(value: Any) -> list[Any]:
    """A list as it is, anything else as a list of one."""
    return value if isinstance(value, list) else [value]


def shown(value: Any) -> str:
    """A value as it stands in the file, cut to 40 characters; "missing" for none."""
    written = json.dumps(value, ensure_ascii=False)
    return "missing" if value is None else written if len(written) <= 40 else written[:39] + "…"
