"""Which settings do not matter to a cell: a retriever may use no model, a chunker no size, a model no precision."""

from __future__ import annotations

from collections.abc import Mapping

from omegaconf import DictConfig, OmegaConf

from harness.cell.settings import class_of
from harness.records import UNUSED

# Settings that act only through a group: they matter where the chosen option mentions them.
_THROUGH = {"chunk": "chunker", "overlap": "chunker", "backend": "model", "precision": "model"}
# Settings that act beside a group, whichever option is chosen: they matter where the group does.
_BESIDE = {"cache_dtype": "model", "context": "chunker"}
# How the class of a retriever says that it leaves a group alone.
_DECLARED = {"chunker": "uses_chunks", "model": "uses_model", "index": "uses_index"}
_ABSENT = object()


def unused_by(config: DictConfig, key: str) -> str | None:
    """The group whose chosen option makes ``key`` meaningless in this cell, or None where it matters.

    ``config`` is the cell's, its interpolations not resolved.
    """
    key = key.lstrip("+~")
    group = _THROUGH.get(key, _BESIDE.get(key, key.partition(".")[0]))
    if group in _DECLARED and not uses(config, group):
        return "retriever"
    for ignoring in ("retriever", "model"):
        if key in getattr(class_of(config, ignoring), "ignores", ()):
            return ignoring
    if key in _THROUGH:
        settings = OmegaConf.to_container(config[group], resolve=False)
        return None if f"${{{key}}}" in str(settings) else group
    if "." in key and group in config:
        return None if OmegaConf.select(config, key, default=_ABSENT) is not _ABSENT else group
    return None


def shown(config: DictConfig, settings: Mapping[str, str]) -> dict[str, str]:
    """``settings`` with ``-`` where a value does not matter."""
    return {key: UNUSED if unused_by(config, key) else value for key, value in settings.items()}


def uses(config: DictConfig, group: str) -> bool:
    """Whether the cell's retriever uses ``group``: ``chunker``, ``model`` or ``index``. Read off its class; its settings are not looked at."""
    return getattr(class_of(config, "retriever"), _DECLARED[group], True) is not False
