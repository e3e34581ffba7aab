"""Files that are whole or not there: written beside their place, then renamed.

A reader never sees half a file, a kill leaves the old one, and a full disk is a ``StoreError`` that names the path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from harness.errors import StoreError


@contextmanager
def writing(path: Path, *, durable: bool = False) -> Iterator[IO[bytes]]:
    """A binary file that takes the place of ``path`` when the block ends without an error, and is removed when it does not.

    ``durable`` asks the disk to have the content before the name (fsync): for what was paid for. Raises ``StoreError`` when
    the disk refuses.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            with aside.open("wb") as file:
                yield file
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            aside.replace(path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreError(
            f"{path} can't be written: {error.strerror or error}. Free space or choose another folder.",
            where=path,
        ) from error


def write_text(path: Path, text: str) -> None:
    """Writes ``text`` in UTF-8, line ends as they are."""
    with writing(path) as file:
        file.write(text.encode("utf-8"))


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes JSON that people can read; numbers that are not finite stand as Python's ``NaN`` and ``Infinity``."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=True) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file written by ``write_json``."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
