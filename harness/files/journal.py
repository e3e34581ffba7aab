"""A file of JSON lines that only grows and survives ``kill -9``: the golden set and the ledger of paid answers.

A line is on the disk (written, flushed, fsynced) before ``append`` returns. A line that was torn by a kill is cut off and kept beside the file.
One process writes at a time.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.errors import InputError, StoreError

_POLL_SECONDS = 0.05


class Journal:
    """The JSON lines of ``path``; missing folders and the file are made by the first ``append``.

    ``wait_seconds``: how long ``locked`` waits for another process before it says so.
    """

    def __init__(self, path: Path, wait_seconds: float = 10.0) -> None:
        self.path = path
        self.wait_seconds = wait_seconds

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the file against other writers, and cuts off a torn last line. The lock ends with the process, however that ends.

        Raises ``StoreError`` when another process holds it, or the folder can't be written.
        """
        with _told(self.path, "written"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._take(descriptor)
            with _told(self.path, "written"):
                self._cut_off_torn_line()
            yield
        finally:
            os.close(descriptor)

    def items(self) -> list[dict[str, Any]]:
        """Every whole line's object, in the order of the file; none where there is no file.

        A last line without its line break was torn and does not count. Raises ``InputError`` for any other line that is no JSON object.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{self.path} can't be read: {error.strerror}.", where=self.path) from error
        whole = data[: data.rfind(b"\n") + 1]
        items = []
        for number, line in enumerate(whole.split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
            except ValueError:
                item = None
            if not isinstance(item, dict):
                raise InputError(
                    f"{self.path}:{number}: this line is no JSON object. Correct it, or delete the line.",
                    path=self.path,
                    line=number,
                )
            items.append(item)
        return items

    def append(self, item: Mapping[str, Any]) -> None:
        """Adds one line and returns when the disk has it. Call it inside ``locked``.

        Raises ``StoreError`` when the disk refuses; the file then ends with its last whole line.
        """
        self.extend([item])

    def extend(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Adds several lines, all of them on the disk when it returns: one wait for the disk, not one for each line.

        A kill in between leaves some of the lines. Call it inside ``locked``; raises as ``append`` does.
        """
        lines = b"".join(map(_line, items))
        with _told(self.path, "written"):
            is_new = not self.path.exists()
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                size = os.fstat(descriptor).st_size
                try:
                    _write_all(descriptor, lines)
                    os.fsync(descriptor)
                except OSError:
                    with suppress(OSError):
                        os.ftruncate(descriptor, size)
                    raise
            finally:
                os.close(descriptor)
            if is_new:
                _sync_folder(self.path.parent)

    def rewrite(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Puts other lines in place of all, in one step: written aside, then renamed. Call it inside ``locked``."""
        aside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with _told(self.path, "written"):
            try:
                with aside.open("wb") as file:
                    file.writelines(map(_line, items))
                    file.flush()
                    os.fsync(file.fileno())
                aside.replace(self.path)
            finally:
                aside.unlink(missing_ok=True)
            _sync_folder(self.path.parent)

    @property
    def _lock(self) -> Path:
        return self.path.with_name(f".{self.path.name}.lock")

    def _take(self, descriptor: int) -> None:
        until = time.monotonic() + self.wait_seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise StoreError(
                        f"{self.path} is being written by another process. Wait for it to end, or choose another file.",
                        where=self.path,
                    ) from None
                time.sleep(_POLL_SECONDS)
            else:
                return

    def _cut_off_torn_line(self) -> None:
        if not self.path.is_file():
            return
        data = self.path.read_bytes()
        end = data.rfind(b"\n") + 1
        torn = data[end:]
        if not torn.strip():
            return
        if _is_object(torn):  # whole but for its line break: somebody's editor left that out
            with self.path.open("ab") as file:
                file.write(b"\n")
            return
        with self.path.with_name(f"{self.path.name}.torn").open("ab") as file:
            file.write(torn + b"\n")
            os.fsync(file.fileno())
        os.truncate(self.path, end)


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _line(item: Mapping[str, Any]) -> bytes:
    return json.dumps(item, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _told(path: Path, what: str) -> Iterator[None]:
    """What the disk refuses becomes a sentence."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} can't be {what}: {error.strerror}. Free space, allow writing there, or choose another file; "
            "what it holds is kept.",
            where=path,
        ) from error
