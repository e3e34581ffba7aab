"""The settings that belong to no group: checked before anything is made."""

from __future__ import annotations

from typing import Any

from omegaconf import DictConfig, OmegaConf

from harness.chunker.context import check_context
from harness.errors import SettingError, switch, whole


def check_plain_settings(config: DictConfig) -> None:
    """Checks the settings that belong to no group; raises ``SettingError`` for a missing or wrong value."""
    whole(config.chunk, "chunk", 1, of="tokens")
    whole(config.overlap, "overlap", 0, of="tokens")
    switch(config.plan, "plan")
    switch(config.profile, "profile")
    check_context(config.context)
    unset = _missing(OmegaConf.to_container(config, resolve=False))
    if unset:
        raise SettingError(f"{unset} is not set, and it has no default. Give it: {unset}=...", key=unset)
    for key in ("corpus.path", "golden.path", "cache", "tokenizer"):
        if not str(OmegaConf.select(config, key, default="-") or "").strip():
            raise SettingError(f"{key} is empty. Give a path, or leave it out for the default.", key=key)


def _missing(node: Any, key: str = "") -> str | None:
    """The first setting without a value, as it is written on the command line."""
    if isinstance(node, dict):
        found = (_missing(value, f"{key}.{name}" if key else str(name)) for name, value in node.items())
        return next((missing for missing in found if missing), None)
    return key if node == "???" else None
