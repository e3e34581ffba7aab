"""JSON lines as text, objects and checked values; all that is wrong with a file, in one message."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.text.encodings import decode, detect, encodable
from harness.text.opening import unpacked_bytes

_WHOLE, _NUMBER = re.compile(r"[+-]?\d+"), re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SHOWN = 5
_LARGEST = 2**53  # beyond it, floats skip whole numbers


class Faults:
    """Faults of the file ``path``, each with its line (from 1)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: list[tuple[int, str]] = []

    @property
    def found(self) -> list[tuple[int, str]]:
        """Line and message of each fault so far, by line."""
        return sorted(self._found)

    def add(self, line: int, message: str) -> None:
        """Records a fault; ``message`` is a sentence or two."""
        self._found.append((line, message))

    def raise_if_any(self) -> None:
        """Raises ``InputError`` with the first five faults; its ``line`` is that of the first."""
        if not self._found:
            return
        found = self.found
        line, message = found[0]
        if len(found) == 1:
            raise InputError(f"{self.path}:{line}: {message}", path=self.path, line=line)
        more = f"\n  and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        shown = "".join(f"\n  line {line}: {message}" for line, message in found[:_SHOWN])
        raise InputError(f"{self.path}: {len(found):,} faults:{shown}{more}", path=self.path, line=line)


def read_text(path: Path) -> str:
    """The file's characters: UTF-8, or UTF-16 or UTF-32 with a byte order mark; packed with gzip or not.

    Raises ``InputError`` when it is none of these.
    """
    data = unpacked_bytes(path)
    encoding = detect(data)
    if encoding and encoding.errors == "strict" and (encoding.mark or not encoding.detail):
        return decode(data, encoding)
    try:
        # JSON and tables have no NUL; UTF-16 and UTF-32 of plain letters have one beside each.
        at = data.index(b"\0") if b"\0" in data else len(data.decode())
    except UnicodeDecodeError as error:
        at = error.start
    line = data[:at].count(b"\n") + 1
    raise InputError(
        f"{path} is not UTF-8, but {encoding.detail if encoding else 'binary'} "
        f"(line {line}, byte {at} of the file, counted from 0). Save the file as UTF-8.",
        path=path,
        line=line,
    )


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Number and content of every line that is not blank.

    Only ``\n`` ends a line: text may hold U+2028 unescaped.
    """
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line and not line.isspace():
            yield number, line


def read_objects(path: Path, faults: Faults) -> list[tuple[int, dict[str, Any]]]:
    """Number and JSON object of every line that is not blank; other lines are faults."""
    lines = read_text(path).split("\n")
    objects = []
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError) as error:
            # A whole file ends in a line break, so that its last piece is blank and never comes here.
            faults.add(number, _not_json(error, is_torn=number == len(lines)))
            continue
        if isinstance(item, dict):
            objects.append((number, encodable_json(item)))
        else:
            faults.add(
                number, f"{json.dumps(item)[:40]} is not a JSON object; one object a line is expected."
            )
    return objects


def encodable_json(value: Any) -> Any:
    """JSON with every lone surrogate replaced by U+FFFD, as the corpus does; it could not be encoded."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [encodable_json(item) for item in value]
    if isinstance(value, dict):
        return {encodable_json(key): encodable_json(item) for key, item in value.items()}
    return value


def _not_json(error: Exception, *, is_torn: bool) -> str:
    reason = getattr(error, "msg", "") or str(error)
    if is_torn:
        return (
            f"the last line is cut off (no line break at its end, and not JSON: {reason}). "
            "Whatever wrote it was interrupted; delete the line, or write the question again."
        )
    where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
    return f"not JSON ({reason}{where}). One whole object a line is expected."


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


def number_in(text: str) -> float | str:
    """The number that a text is; any other text as it is, "nan" and "inf" too."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def exact_number(value: Any, what: str) -> float:
    """A finite number that a float holds exactly, whole ones as ``int``."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not abs(value) <= _LARGEST:
        raise FieldError(f"{what} is {shown(value)}; a number such as 2 or 0.5 is expected.")
    return int(value) if value == int(value) else float(value)


def as_list(value: Any) -> list[Any]:
    """A list as it is, anything else as a list of one."""
    return value if isinstance(value, list) else [value]


def shown(value: Any) -> str:
    """A value as it stands in the file, cut to 40 characters; "missing" for none."""
    written = json.dumps(value, ensure_ascii=False)
    return "missing" if value is None else written if len(written) <= 40 else written[:39] + "…"
