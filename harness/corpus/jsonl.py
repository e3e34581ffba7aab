"""A file of documents: JSON lines, a JSON list, or lines of id, tab and text; packed with gzip or not."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.corpus import Loaded
from harness.corpus.gather import Notes, gather, wrong_path
from harness.errors import InputError
from harness.progress import bar
from harness.records import Document
from harness.text.encodings import encodable
from harness.text.opening import opened, plain_name, text_encoding

_IDS = ("_id", "id", "doc_id", "docid")
_TEXTS = ("text", "content", "contents", "page_content")
_NOTHING: Mapping[str, Any] = {}  # shared: a million empty dictionaries would weigh 64 MB
_KINDS = {str: "text", bool: "true or false", int: "number", float: "number", list: "list", dict: "object"}


class JsonlCorpus:
    """Every object of the file ``path``: an id (``_id``, ``id``, ``doc_id`` or ``docid``) and a text.

    The text is called ``text``, ``content``, ``contents`` or ``page_content``; ``title`` and ``metadata`` may
    stand beside it. When no object has an id, its position, counted from 0, is the id. The objects are lines,
    or one JSON list. A ``.tsv`` has an id, a tab and a text on each line.
    """

    def __init__(self, path: str, name: str | None = None) -> None:
        self.path = Path(path).expanduser()
        self.name = name or plain_name(self.path).stem

    def load(self) -> Loaded:
        """All documents; see ``harness.corpus``."""
        if not self.path.is_file():
            raise wrong_path(self.path, "file")
        return load_documents(self.path, embed_titles=False)


def load_documents(file: Path, *, embed_titles: bool) -> Loaded:
    """The documents of ``file``, in its order; ``position`` counts objects, blank lines aside.

    ``embed_titles``: the title and a blank are put before the text when it is embedded or indexed. Raises
    ``InputError`` with the line for broken JSON, wrong fields, and an object without an id among others that
    have one.
    """
    notes = Notes()
    documents = _documents(file, notes, embed_titles=embed_titles)
    return gather(documents, notes, source=file, looked_for="JSON objects with a text, one a line")


class _LineError(Exception):
    """What is wrong with one line."""


def _documents(path: Path, notes: Notes, *, embed_titles: bool) -> Iterator[Document]:
    is_table = plain_name(path).suffix.lower() == ".tsv"
    first_line: dict[bool, int] = {}  # of the objects with an id, and of those without
    for position, (line, content) in enumerate(_items(path, notes)):
        try:
            item = _pair(content) if is_table else _object(content)
            found = _id(item)
            given, title, metadata = _fields(item)
        except _LineError as error:
            where = f"{path}:{line}" if isinstance(content, str) else f"{path}: entry {line}"
            raise InputError(f"{where}: {error}", path=path, line=line) from None
        first_line.setdefault(found is not None, line)
        if len(first_line) > 1:
            raise InputError(
                f"{path}:{first_line[False]}: no id, while line {first_line[True]} has one. Give every "
                f"object an id (one of {', '.join(_IDS)}), or none (the position then is the id).",
                path=path,
                line=first_line[False],
            )
        doc_id, text = found or str(position), encodable(given)
        if text != given:
            notes.add("lone surrogates replaced by U+FFFD", doc_id)
        prefix = f"{title} " if embed_titles and title else ""
        yield Document(doc_id, text, title, prefix, position, metadata)


def _items(path: Path, notes: Notes) -> Iterator[tuple[int, Any]]:
    """The lines that are not blank with their numbers, or the entries of one JSON list; counted from 1."""
    lines = _lines(path, notes)
    first = next(lines, None)
    if first is None:
        return
    if not first[1].lstrip().startswith("[") and plain_name(path).suffix.lower() != ".json":
        yield first
        yield from lines
        return
    held = [first, *lines]
    entries = _entries("".join(line for _, line in held))
    yield from held if entries is None else enumerate(entries, start=1)


def _entries(text: str) -> list[Any] | None:
    """A JSON list, or the only list of an object that is no document; None for JSON lines."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, dict) and not set(_TEXTS) & set(found):
        lists = [value for value in found.values() if isinstance(value, list)]
        return lists[0] if len(lists) == 1 else None
    return found if isinstance(found, list) else None


def _lines(path: Path, notes: Notes) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers, counted from 1."""
    encoding = text_encoding(path)
    if encoding is None:
        raise InputError(f"{path} is a binary file, not JSONL. Check corpus.path.", path=path)
    if encoding.detail:
        notes.add("not UTF-8", path.name, encoding.detail)
    with (
        # A line ends in \n, \r\n or \r, which JSON escapes in texts; U+2028 and its like end none.
        io.TextIOWrapper(opened(path), encoding.codec, encoding.errors) as lines,
        bar("Reading", None, "documents") as progress,
    ):
        for number, line in enumerate(lines, start=1):
            content = line.removeprefix("\ufeff") if number == 1 else line
            if content and not content.isspace():
                yield number, content
            if number % 1000 == 0:
                progress.update(1000)


def _pair(content: str) -> Mapping[str, Any]:
    cells = content.rstrip("\r\n").split("\t")
    if len(cells) != 2:
        raise _LineError(
            f"{len(cells)} cells between tabs, where an id and a text are expected. Documents with more than "
            'that are read as JSON lines: {"_id": "a", "title": "...", "text": "..."}.'
        )
    return {"_id": cells[0].strip(), "text": cells[1]}


def _object(content: Any) -> Mapping[str, Any]:
    item = content
    if isinstance(content, str):
        try:
            item = json.loads(content)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "") or str(error)
            where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
            raise _LineError(
                f"this line is not JSON ({reason}{where}). JSONL has one whole object a line, for instance "
                '{"_id": "a", "text": "..."}.'
            ) from None
    if isinstance(item, dict):
        return item
    raise _LineError(
        f"a JSON {_kind(item)} where an object with a text is expected. JSONL has one object a line, without "
        "commas or brackets around them."
    )


def _id(item: Mapping[str, Any]) -> str | None:
    key = next((key for key in _IDS if item.get(key) is not None), None)
    if key is None:
        return None
    value = item[key]
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise _LineError(
            f"{key} is {json.dumps(value)[:60]}; an id is a text that is not empty, or a whole number."
        )
    return encodable(str(value))


def _fields(item: Mapping[str, Any]) -> tuple[str, str, Mapping[str, Any]]:
    """Text as given, title and metadata of an object, each of its kind."""
    key = next((key for key in _TEXTS if key in item), None)
    if key is None:
        found = ", ".join(list(item)[:8]) or "nothing"
        raise _LineError(f"no text: one of {', '.join(_TEXTS)} is expected, the keys found are {found}.")
    title, metadata = item.get("title") or "", item.get("metadata") or _NOTHING
    for name, value, kind in ((key, item[key], str), ("title", title, str), ("metadata", metadata, dict)):
        if not isinstance(value, kind):
            expected = "a text" if kind is str else "an object"
            raise _LineError(f"{name} is a JSON {_kind(value)}; {expected} is expected.")
    return item[key], encodable(title), metadata


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "null")
