"""The lines of a golden set, as text and as JSON objects."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import InputError
from harness.golden.faults import Faults

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_MARKS = (  # UTF-32 first: its little-endian mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_text(path: Path) -> str:
    """The file's characters: UTF-8, or UTF-16 or UTF-32 with a byte order mark. Raises ``InputError`` when it is none of these."""
    data = path.read_bytes()
    mark, codec = next(((mark, codec) for mark, codec in _MARKS if data.startswith(mark)), (b"", "utf-8"))
    if codec == "utf-8" and b"\0" in data:
        # JSON and tables have no NUL; UTF-16 and UTF-32 of plain letters have one beside each.
        raise _not_utf8(path, data, data.index(b"\0"), "but UTF-16 without a byte order mark, or no text")
    try:
        return data[len(mark) :].decode(codec)
    except UnicodeDecodeError as error:
        raise _not_utf8(path, data, len(mark) + error.start, f"but damaged {codec}" if mark else "") from None


def _not_utf8(path: Path, data: bytes, at: int, rather: str) -> InputError:
    line = data[:at].count(b"\n") + 1
    return InputError(
        f"{path} is not UTF-8{rather and ', ' + rather} (line {line}, byte {at} of the file, counted from 0). "
        "Save the file as UTF-8.",
        path=path,
        line=line,
    )


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Number and content of every line that is not blank. Only ``\n`` ends a line: text may hold U+2028 unescaped."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line and not line.isspace():
            yield number, line


def read_objects(path: Path, faults: Faults) -> list[tuple[int, dict[str, Any]]]:
    """Number and JSON object of every line that is not blank; what is no object is a fault."""
    text = read_text(path)
    lines = text.split("\n")
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
            objects.append((number, whole(item)))
        else:
            faults.add(number, f"{json.dumps(item)[:40]} is no JSON object; one object a line is expected.")
    return objects


def whole(value: Any) -> Any:
    """JSON with every half of a surrogate pair replaced by U+FFFD, as the corpus does: it could not be written again."""
    if isinstance(value, str):
        return value if value.isascii() else _HALF_CHARACTER.sub("\ufffd", value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    return {whole(key): whole(item) for key, item in value.items()} if isinstance(value, dict) else value


def _not_json(error: Exception, *, is_torn: bool) -> str:
    reason = getattr(error, "msg", "") or str(error)
    if is_torn:
        return (
            f"the last line is cut off (no line break at its end, and not JSON: {reason}). "
            "Whatever wrote it was interrupted; delete the line, or write the question again."
        )
    where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
    return f"not JSON ({reason}{where}). One whole object a line is expected."
