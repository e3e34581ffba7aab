"""A JSONL file of documents: one JSON object a line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.corpus import Loaded
from harness.corpus.gather import Notes, gather, wrong_path
from harness.errors import InputError
from harness.progress import bar
from harness.records import Document
from harness.text.encodings import Encoding, detect, encodable

_IDS = ("_id", "id", "doc_id")
_TEXTS = ("text", "content", "page_content")
_BLOCK_BYTES = 1 << 20
_NOTHING: Mapping[str, Any] = {}  # shared: a million empty dictionaries would weigh 64 MB
_KINDS = {str: "text", bool: "true or false", int: "number", float: "number", list: "list", dict: "object"}


class JsonlCorpus:
    """Every object of the file ``path``: an id (``_id``, ``id`` or ``doc_id``) and a text.

    The text is called ``text``, ``content`` or ``page_content``; ``title`` and ``metadata`` may stand beside
    it. When no object has an id, its position, counted from 0, is the id.
    """

    def __init__(self, path: str, name: str | None = None) -> None:
        self.path = Path(path).expanduser()
        self.name = name or self.path.stem

    def load(self) -> Loaded:
        """All documents; see ``harness.corpus``."""
        if not self.path.is_file():
            raise wrong_path(self.path, "file")
        return load_documents(self.path, embed_titles=False)


def load_documents(file: Path, *, embed_titles: bool) -> Loaded:
    """The documents of the JSONL ``file``, in its order; ``position`` counts objects, blank lines aside.

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
    first_line: dict[bool, int] = {}  # of the objects with an id, and of those without
    for position, (line, content) in enumerate(_lines(path, notes)):
        try:
            item = _object(content)
            found = _id(item)
            given, title, metadata = _fields(item)
        except _LineError as error:
            raise InputError(f"{path}:{line}: {error}", path=path, line=line) from None
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


def _lines(path: Path, notes: Notes) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers, counted from 1."""
    encoding = _encoding(path)
    if encoding.detail:
        notes.add("not UTF-8", path.name, encoding.detail)
    with (
        # A line ends in \n, \r\n or \r, which JSON escapes in texts; U+2028 and its like end none.
        path.open(encoding=encoding.codec, errors=encoding.errors) as lines,
        bar("Reading", None, "documents") as progress,
    ):
        for number, line in enumerate(lines, start=1):
            content = line.removeprefix("\ufeff") if number == 1 else line
            if content and not content.isspace():
                yield number, content
            if number % 1000 == 0:
                progress.update(1000)


def _encoding(path: Path) -> Encoding:
    """The file's encoding. UTF-8 is checked block by block; only another file is held in memory."""
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


def _object(content: str) -> Mapping[str, Any]:
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
