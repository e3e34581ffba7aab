"""Errors that the user can correct, and checks of single values that raise them.

A message is one or two sentences: what was given, what is allowed, where, what to do. Whoever shows an error
prints ``str(error)`` and nothing else. What was found is also an attribute, so that nothing parses English.
"""

from __future__ import annotations

from math import inf, isfinite
from pathlib import Path
from typing import cast


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


def whole(value: object, key: str, least: int = 0, most: int | None = None, of: str = "") -> int:
    """``value`` if it is a whole number from ``least`` to ``most``; ``of`` names what is counted."""
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
    if not fits or (most is not None and cast(int, value) > most):
        limits = f"at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        what = f"a whole number of {of}, {limits}" if of else f"a whole number, {limits}"
        raise SettingError(f"{key} is {shown(value)}; it must be {what}.", key=key)
    return cast(int, value)


def number(value: object, key: str, least: float = 0.0, most: float = inf) -> float:
    """``value`` if it is a finite number from ``least`` to ``most``."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
    if not fits or not least <= cast(float, value) <= most:
        limits = f"of at least {least:g}" if most == inf else f"from {least:g} to {most:g}"
        raise SettingError(f"{key} is {shown(value)}; it must be a number {limits}.", key=key)
    return float(cast(float, value))


def share(value: object, key: str, *, zero: bool = True, one: bool = True) -> float:
    """``value`` if it is a share from 0 to 1; ``zero``, ``one``: whether the bounds are allowed."""
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    if not fits or (value == 0 and not zero) or (value == 1 and not one):
        limits = f"{'from' if zero else 'above'} 0 {'to' if one else 'and below'} 1"
        raise SettingError(f"{key} is {shown(value)}; it must be a share {limits}, such as 0.03.", key=key)
    return float(cast(float, value))


def optional_share(value: object, key: str, *, zero: bool = True, one: bool = True) -> float | None:
    """``value`` if it is None, or a share as for ``share``."""
    return None if value is None else share(value, key, zero=zero, one=one)


def switch(value: object, key: str) -> bool:
    """``value`` if it is true or false."""
    if not isinstance(value, bool):
        raise SettingError(f"{key} is {shown(value)}; it must be true or false.", key=key)
    return value


def shown(value: object) -> str:
    """A value as it is written on the command line."""
    return "empty" if value is None or value == "" else str(value)
