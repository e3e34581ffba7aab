"""Checks of an index's settings."""

from __future__ import annotations

from harness.errors import SettingError


def check_whole(key: str, value: object, lowest: int, unit: str, most: int | None = None) -> None:
    """Raises ``SettingError`` for anything but a whole number of at least ``lowest`` and, where given, at most ``most``."""
    highest = float("inf") if most is None else most
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
        limits = f"at least {lowest}" if most is None else f"{lowest} to {most}"
        raise SettingError(
            f"index.{key} is {value}; it must be a whole number of {unit}, {limits}.",
            key=f"index.{key}",
        )


def check_flag(key: str, value: object) -> None:
    """Raises ``SettingError`` for anything but true and false."""
    if not isinstance(value, bool):
        raise SettingError(f"index.{key} is {value}; it must be true or false.", key=f"index.{key}")
