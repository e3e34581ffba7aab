"""Files that several processes use: written whole or not at all, and locked.

A reader never sees half a file and a kill leaves the old one. Names of unfinished files are unique, so
several processes and threads may write the same file; the last one wins.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from harness.errors import StoreError


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[IO[bytes]]:
    """A binary file that replaces ``path`` when the block ends without an error.

    ``durable``: the content is on the disk (fsync) before it gets its name. Raises ``OSError``.
    """
    aside = _aside(path)
    try:
        with aside.open("xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


@contextmanager
def writing(
    path: Path,
    *,
    durable: bool = False,
    make_folder: bool = False,
    remedy: str = "Free space or choose another folder.",
) -> Iterator[IO[bytes]]:
    """As ``replacing``, but raises ``StoreError`` with the path, the reason and ``remedy``."""
    try:
        if make_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, durable=durable) as file:
            yield file
    except OSError as error:
        raise StoreError(
            f"{path} can't be written: {error.strerror or error}. {remedy}", where=path
        ) from error


@contextmanager
def replacing_folder(path: Path, is_whole: Callable[[], bool] = lambda: False) -> Iterator[Path]:
    """An empty folder that replaces the folder ``path`` when the block ends without an error.

    ``is_whole``: true when ``path`` is complete by then, written by another process; it is left as it is.
    Raises ``OSError``.
    """
    aside = _aside(path)
    try:
        aside.mkdir(parents=True)
        yield aside
        if is_whole():
            return
        remove(path)
        try:
            aside.rename(path)
        except OSError:
            # Another process was faster: its folder is complete, because it was renamed too.
            if not path.is_dir():
                raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def remove(path: Path) -> bool:
    """Removes a file or folder, for readers in one step; False when it did not exist. Raises ``OSError``."""
    aside = path.with_name(f".{uuid.uuid4().hex}.removed")
    try:
        path.rename(aside)
    except FileNotFoundError:
        return False
    if aside.is_dir():
        shutil.rmtree(aside)
    else:
        aside.unlink()
    return True


def write_bytes(path: Path, content: bytes) -> None:
    """Writes ``content`` and makes the folder if needed. Raises ``OSError``."""
    for is_last in (False, True):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with replacing(path) as file:
                file.write(content)
        except FileNotFoundError:
            # Another process removed the unused folder meanwhile.
            if is_last:
                raise
        else:
            return


def write_text(path: Path, text: str) -> None:
    """Writes ``text`` in UTF-8, line ends as they are."""
    with writing(path) as file:
        file.write(text.encode("utf-8"))


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes indented JSON; numbers that are not finite are Python's ``NaN`` and ``Infinity``."""
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=True) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file written by ``write_json``."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def sync_folder(folder: Path) -> None:
    """Makes sure that the names in ``folder`` are on the disk, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(file: Path, wait_seconds: float, busy: str) -> Iterator[None]:
    """Holds the lock ``file`` while the block runs; it ends with the process, however that ends.

    Raises ``StoreError`` with the message ``busy`` when another process still holds it after
    ``wait_seconds``, and ``OSError`` when the file can't be opened.
    """
    file.touch()  # the lock itself would wait for a folder that can't be written
    lock = FileLock(file, timeout=wait_seconds)
    try:
        lock.acquire()
    except Timeout:
        raise StoreError(busy, where=file) from None
    try:
        yield
    finally:
        lock.release()


def _aside(path: Path) -> Path:
    return path.with_name(f".{uuid.uuid4().hex}.part")
