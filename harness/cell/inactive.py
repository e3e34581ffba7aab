"""Which settings do not matter to a cell: a retriever may use no model, a chunker no size, a model no precision."""

from __future__ import annotations

from collections.abc import Mapping

from omegaconf import DictConfig, OmegaConf

from harness.cell.components import class_of
from harness.cell.external import returns_own_chunks
from harness.records import UNUSED

# Settings that act only through a group: they matter where the chosen option mentions them.
_THROUGH = {"chunk": "chunker", "overlap": "chunker", "backend": "model", "precision": "model"}
# Settings that act beside a group, whichever option is chosen: they matter where the group does.
_BESIDE = {"cache_dtype": "model", "context": "chunker"}
_ABSENT = object()


def unused_by(config: DictConfig, key: str) -> str | None:
    """The group whose chosen option makes ``key`` meaningless in this cell, or None where it matters.

    ``config`` is the cell's, its interpolations not resolved.
    """
    key = key.lstrip("+~")
    group = _THROUGH.get(key, _BESIDE.get(key, key.partition(".")[0]))
    if group in _without(config):
        return "retriever"
    for deaf in ("retriever", "model"):
        if key in getattr(class_of(config, deaf), "ignores", ()):
            return deaf
    if key in _THROUGH:
        settings = OmegaConf.to_container(config[group], resolve=False)
        return None if f"${{{key}}}" in str(settings) else group
    if "." in key and group in config:
        return None if OmegaConf.select(config, key, default=_ABSENT) is not _ABSENT else group
    return None


def shown(config: DictConfig, settings: Mapping[str, str]) -> dict[str, str]:
    """``settings`` with ``-`` where a value does not matter."""
    return {key: UNUSED if unused_by(config, key) else value for key, value in settings.items()}


def _without(config: DictConfig) -> set[str]:
    """The groups that the retriever leaves alone."""
    if returns_own_chunks(config):
        return {"chunker", "model", "index"}
    retriever = class_of(config, "retriever")
    declared = {"model": "uses_model", "index": "uses_index"}
    return {group for group, name in declared.items() if getattr(retriever, name, True) is False}
