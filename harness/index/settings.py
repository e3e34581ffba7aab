"""Checks of an index's settings."""

from __future__ import annotations

from harness.errors import SettingError


def check_whole(key: str, value: object, lowest: int, unit: str) -> None:
    """Raises ``SettingError`` for anything but a whole number of at least ``lowest``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        raise SettingError(
            f"index.{key} is {value}; it must be a whole number of {unit}, at least {lowest}.",
            key=f"index.{key}",
        )


def check_flag(key: str, value: object) -> None:
    """Raises ``SettingError`` for anything but true and false."""
    if not isinstance(value, bool):
        raise SettingError(f"index.{key} is {value}; it must be true or false.", key=f"index.{key}")
