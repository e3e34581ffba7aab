"""A file of JSON objects, one a line, as a stream of documents."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.corpus.gather import Notes
from harness.errors import InputError
from harness.progress import bar
from harness.records import Document
from harness.text.encodings import Encoding, detect

_IDS = ("_id", "id", "doc_id")
_TEXTS = ("text", "content", "page_content")
_BLOCK_BYTES = 1 << 20
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_NOTHING: Mapping[str, Any] = {}  # shared: a million empty dictionaries would weigh 64 MB


def read_documents(path: Path, notes: Notes, prefix: Callable[[str], str]) -> Iterator[Document]:
    """The documents of a JSONL file, in its order; ``position`` counts objects, blank lines aside.

    ``prefix`` makes ``Document.embed_prefix`` of a title. When no object has an id, its position is the id. Raises
    ``InputError`` with the line for broken JSON, wrong fields, and an object without an id among others that have one.
    """
    with_id = without_id = 0  # the first line of each kind
    for position, (line, item) in enumerate(_objects(path, notes)):
        doc_id = _id(path, line, item)
        if doc_id is None:
            without_id = without_id or line
        else:
            with_id = with_id or line
        if with_id and without_id:
            raise InputError(
                f"{path}:{without_id}: no id, while line {with_id} has one. Give every object an id (one of "
                f"{', '.join(_IDS)}), or none (the position then is the id).",
                path=path,
                line=without_id,
            )
        yield _document(path, line, item, doc_id or str(position), position, notes, prefix)


def _objects(path: Path, notes: Notes) -> Iterator[tuple[int, dict[str, Any]]]:
    encoding = _encoding(path)
    if encoding.detail:
        notes.add("not UTF-8", path.name, encoding.detail)
    with (
        # A line ends in \n, \r\n or \r, which JSON escapes in texts; U+2028 and its like, which it need not, end none.
        path.open(encoding=encoding.codec, errors=encoding.errors) as lines,
        bar("Reading", None, "documents") as progress,
    ):
        for number, line in enumerate(lines, start=1):
            content = line.removeprefix("\ufeff") if number == 1 else line
            if content.isspace() or not content:
                continue
            yield number, _parse(path, number, content)
            if number % 1000 == 0:
                progress.update(1000)


def _encoding(path: Path) -> Encoding:
    """UTF-8 is checked block by block, so that a large file is not held in memory; only what is not UTF-8 is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                decoder.decode(block)
                if b"\0" in block:  # JSON escapes it: this is UTF-16 or UTF-32 of plain letters
                    break
            else:
                decoder.decode(b"", final=True)
                return Encoding("utf-8")
    except UnicodeDecodeError:
        pass
    encoding = detect(path.read_bytes())
    if encoding is None:
        raise InputError(f"{path} is a binary file, not JSONL. Check corpus.path.", path=path)
    return encoding


def _parse(path: Path, line: int, content: str) -> dict[str, Any]:
    try:
        item = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "") or str(error)
        where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(
            f"{path}:{line}: this line is not JSON ({reason}{where}). JSONL has one whole object a line, for instance "
            '{"_id": "a", "text": "..."}.',
            path=path,
            line=line,
        ) from None
    if not isinstance(item, dict):
        raise InputError(
            f"{path}:{line}: a JSON {_kind(item)} where an object with a text is expected. "
            "JSONL has one object a line, without commas or brackets around them.",
            path=path,
            line=line,
        )
    return item


def _id(path: Path, line: int, item: Mapping[str, Any]) -> str | None:
    key = next((key for key in _IDS if item.get(key) is not None), None)
    if key is None:
        return None
    value = item[key]
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise InputError(
            f"{path}:{line}: {key} is {json.dumps(value)[:60]}; an id is a text that is not empty, or a whole number.",
            path=path,
            line=line,
        )
    return _whole(str(value))


def _document(
    path: Path,
    line: int,
    item: Mapping[str, Any],
    doc_id: str,
    position: int,
    notes: Notes,
    prefix: Callable[[str], str],
) -> Document:
    key = next((key for key in _TEXTS if key in item), None)
    if key is None:
        found = ", ".join(list(item)[:8]) or "nothing"
        raise InputError(
            f"{path}:{line}: no text: one of {', '.join(_TEXTS)} is expected, the keys found are {found}.",
            path=path,
            line=line,
        )
    title, metadata = item.get("title") or "", item.get("metadata") or _NOTHING
    _check(path, line, key, item[key], str)
    _check(path, line, "title", title, str)
    _check(path, line, "metadata", metadata, dict)
    text = _whole(item[key])
    if text != item[key]:
        notes.add("half characters replaced by U+FFFD", doc_id)
    title = _whole(title)
    return Document(doc_id, text, title, prefix(title), position, metadata)


def _check(path: Path, line: int, name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        expected = "a text" if kind is str else "an object"
        raise InputError(
            f"{path}:{line}: {name} is a JSON {_kind(value)}; {expected} is expected.", path=path, line=line
        )


def _whole(text: str) -> str:
    """``text`` with every half of a surrogate pair (an escape cut in two) replaced, so that it can be written at all."""
    return text if text.isascii() else _HALF_CHARACTER.sub("\ufffd", text)


def _kind(value: object) -> str:
    names = {str: "text", bool: "true or false", int: "number", float: "number", list: "list", dict: "object"}
    return names.get(type(value), "null")
