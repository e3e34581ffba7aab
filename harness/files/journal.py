"""A file of JSON lines that survives ``kill -9``: the golden set and the ledger of paid answers.

A line is on the disk (fsync) before ``append`` returns. A line that was torn by a kill is cut off and saved
beside the file. One process writes at a time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from harness.errors import InputError, StoreError
from harness.files.atomic import locked, replacing, sync_folder


class Journal:
    """The JSON lines of ``path``; missing folders and the file are made by the first ``append``.

    ``wait_seconds``: how long ``locked`` waits for another process before it raises.
    """

    def __init__(self, path: Path, wait_seconds: float = 10.0) -> None:
        self.path = path
        self.wait_seconds = wait_seconds

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the file against other writers and cuts off a torn last line.

        Raises ``StoreError`` when another process holds the lock, or the folder can't be written.
        """
        busy = f"{self.path} is being written by another process. Wait for it to end, or choose another file."
        with ExitStack() as stack:
            with _readable_errors(self.path):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                lock = self.path.with_name(f".{self.path.name}.lock")
                stack.enter_context(locked(lock, self.wait_seconds, busy))
                self._cut_off_torn_line()
            yield

    def items(self) -> list[dict[str, Any]]:
        """The object of every whole line, in the order of the file; none when the file does not exist.

        A last line without its line break was torn and is left out. Raises ``InputError`` for any other line
        that is not a JSON object.
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
                    f"{self.path}:{number}: this line is not a JSON object. Correct or delete it.",
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
        """Adds several lines with one wait for the disk; all of them are on it when this returns.

        A kill in between leaves some of the lines. Call it inside ``locked``; raises as ``append`` does.
        """
        lines = b"".join(map(_line, items))
        with _readable_errors(self.path):
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
                sync_folder(self.path.parent)

    def rewrite(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Replaces all lines in one step. Call it inside ``locked``."""
        with _readable_errors(self.path), replacing(self.path, durable=True) as file:
            file.writelines(map(_line, items))
        with _readable_errors(self.path):
            sync_folder(self.path.parent)

    def _cut_off_torn_line(self) -> None:
        if not self.path.is_file():
            return
        data = self.path.read_bytes()
        end = data.rfind(b"\n") + 1
        torn = data[end:]
        if not torn.strip():
            return
        if _is_object(torn):  # complete: an editor left out the line break
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


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    """Turns ``OSError`` into a sentence."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} can't be written: {error.strerror}. Free space, allow writing there, or choose another "
            "file. The lines in it are safe.",
            where=path,
        ) from error
