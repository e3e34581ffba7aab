"""Everything that can go wrong and that the user can mend: one base, four kinds.

A message is one or two sentences: what was given, what is allowed, where, what to do. Whoever shows an error
prints ``str(error)`` and nothing else. What was found is also an attribute, so that nothing parses English.
"""

from __future__ import annotations

from pathlib import Path


class HarnessError(Exception):
    """Base of all errors that are the input's fault and not the program's."""


class SettingError(HarnessError, ValueError):
    """A setting has a value that is not allowed, or two settings contradict each other.

    ``key`` is the setting as it is written on the command line, for instance ``chunker.overlap``.
    """

    def __init__(self, message: str, *, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class InputError(HarnessError, ValueError):
    """A file given by the user (documents, golden set) can't be used as it is.

    ``path`` is the file or folder; ``line`` counts from 1 and is None when no single line is at fault.
    """

    def __init__(self, message: str, *, path: Path | str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = None if path is None else Path(path)
        self.line = line


class ModelError(HarnessError):
    """A model can't be found, loaded or trusted. ``model`` is the name that was asked for."""

    def __init__(self, message: str, *, model: str | None = None) -> None:
        super().__init__(message)
        self.model = model


class StoreError(HarnessError):
    """A place where results are stored (tracking store, cache, output folder) can't be used.

    ``where`` is its address: a URI or a path.
    """

    def __init__(self, message: str, *, where: str | Path | None = None) -> None:
        super().__init__(message)
        self.where = None if where is None else str(where)
