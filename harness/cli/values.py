"""The settings that belong to no group, and what every group must have been given: checked before anything is made."""

from __future__ import annotations

from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.chunker.context import check_context
from harness.errors import SettingError

_SMALLEST = {"chunk": 1, "overlap": 0}
_SWITCHES = ("plan", "profile")
_TEXTS = ("corpus.path", "golden.path", "cache", "tokenizer")


def plain_settings_hold(config: DictConfig) -> None:
    """Raises ``SettingError`` for a number, switch or path that is missing or of the wrong kind."""
    for key, smallest in _SMALLEST.items():
        value = config[key]
        if not isinstance(value, int) or isinstance(value, bool) or value < smallest:
            raise SettingError(
                f"{key} is {_shown(value)}; it must be a whole number of tokens, at least {smallest}.",
                key=key,
            )
    for key in _SWITCHES:
        if not isinstance(config[key], bool):
            raise SettingError(f"{key} is {_shown(config[key])}; it must be true or false.", key=key)
    check_context(config.context)
    unset = _missing(OmegaConf.to_container(config, resolve=False))
    if unset:
        raise SettingError(f"{unset} is not set, and it has no default. Give it: {unset}=...", key=unset)
    for key in _TEXTS:
        if not str(OmegaConf.select(config, key, default="-") or "").strip():
            raise SettingError(f"{key} is empty. Give a path, or leave it out for the default.", key=key)


def _missing(node: Any, key: str = "") -> str | None:
    """The first setting without a value, as it is written on the command line."""
    if isinstance(node, dict):
        found = (_missing(value, f"{key}.{name}" if key else str(name)) for name, value in node.items())
        return next((missing for missing in found if missing), None)
    return key if node == "???" else None


def _shown(value: object) -> str:
    """A value as it is written on the command line."""
    return "empty" if value in (None, "") else str(value)
