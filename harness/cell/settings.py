"""The settings of a cell: which class an option names, what it makes, and which have no effect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from harness.errors import HarnessError, SettingError, whole
from harness.records import UNUSED

_OF_RETRIEVER = (
    *("chunker", "chunk", "overlap", "context", "model", "backend", "precision", "cache_dtype", "tokenizer"),
    *("index", "retriever", "reranker"),
)
# In the order in which their mistakes are told.
_GROUPS = ("chunker", "index", "retriever", "reranker", "metrics", "tracker", "corpus", "golden", "model")


@dataclass(frozen=True)
class Settings:
    """The settings of one group. Equal settings are equal, whatever configuration they come from."""

    text: str
    node: DictConfig = field(compare=False, repr=False)

    @classmethod
    def of(cls, config: DictConfig, group: str) -> Settings:
        """Those of ``group``, resolved.

        Raises ``SettingError`` when they refer to something that is not there.
        """
        try:
            content = OmegaConf.to_container(config[group], resolve=True)
        except OmegaConfBaseException as error:
            raise SettingError(
                f"The settings of {group} can't be read: {str(error).splitlines()[0]}", key=group
            ) from error
        return cls(json.dumps(content, sort_keys=True), DictConfig(content))

    def without(self, values: Mapping[str, Any]) -> str:
        """The text without the settings that have one of ``values``."""
        content = json.loads(self.text)
        kept = {key: value for key, value in content.items() if (key, value) not in values.items()}
        return json.dumps(kept, sort_keys=True)

    def make(self) -> Any:
        """A new object of the class that ``_target_`` names.

        What its constructor raises is raised without Hydra's wrapping.
        """
        try:
            return instantiate(self.node)
        except InstantiationException as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, HarnessError):
                cause = cause.__cause__
            raise cause or SettingError(
                f"{self.node.get('_target_')} can't be made with these settings: {error.__cause__ or error}. "
                "Correct the option's "
                "file or the class."
            ) from None


def new(config: DictConfig, group: str) -> Any:
    """The object of one group, new. Raises what its constructor has to say."""
    return Settings.of(config, group).make()


def check_settings(configs: Mapping[int, DictConfig]) -> dict[int, HarnessError]:
    """The first mistake in each of ``configs`` that has one.

    Every component is made once, before a document is read or a weight is loaded.
    """
    known: dict[Settings, HarnessError | None] = {}
    wrong = {}
    for i, config in configs.items():
        try:
            for group in _GROUPS:
                class_of(config, group)
                _check(Settings.of(config, group), known)
        except HarnessError as error:
            wrong[i] = error
    return wrong


def _check(settings: Settings, known: dict[Settings, HarnessError | None]) -> None:
    """The cells of a sweep share most of their settings, so each is tried once."""
    if settings not in known:
        known[settings] = None
        try:
            settings.make()
        except HarnessError as error:
            known[settings] = error
    if (mistake := known[settings]) is not None:
        raise mistake


def cut_offs(config: DictConfig) -> list[int]:
    """``k`` as ascending distinct numbers.

    Raises ``SettingError`` for anything but whole numbers of at least 1.
    """
    given = OmegaConf.to_object(config.k) if OmegaConf.is_list(config.k) else [config.k]
    ks = [given] if not isinstance(given, list) else given
    if not ks:
        raise SettingError("k is empty; it must be a whole number, at least 1, or a list: k=3,5,10.", key="k")
    return sorted({whole(k, "k", 1, of="rows") for k in ks})


def retriever_settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """What makes ``config`` another retriever than others; where a model is cached does not."""
    found = {key: config[key] for key in _OF_RETRIEVER if key in config}
    return {
        key: {k: v for k, v in value.items() if k != "cache_dir"} if isinstance(value, Mapping) else value
        for key, value in found.items()
    }


def class_of(config: DictConfig, group: str) -> type:
    """The class that is the group's ``_target_``.

    Raises ``SettingError`` when it is missing, or its module can't be imported.
    """
    settings = config[group]
    if not OmegaConf.is_dict(settings) or settings.get("_target_") is None:
        raise SettingError(
            f"{group}._target_ is missing. The option's file must hold settings, one a line, and among them "
            "_target_: package.module.Class.",
            key=f"{group}._target_",
        )
    target = str(settings["_target_"])
    module, _, name = target.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # the module may be a user's own, and fail in any way
        raise SettingError(
            f"{group}._target_ is {target}, which can't be loaded ({type(error).__name__}: {error}). "
            "It must be package.module.Class, "
            "importable from here (installed, or in a folder on PYTHONPATH).",
            key=f"{group}._target_",
        ) from error
    if not isinstance(found, type):
        raise SettingError(
            f"{group}._target_ is {target}, which is not a class. It must be package.module.Class.",
            key=f"{group}._target_",
        )
    return found


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


def with_unused(config: DictConfig, settings: Mapping[str, str]) -> dict[str, str]:
    """``settings`` with ``-`` where a value does not matter."""
    return {key: UNUSED if unused_by(config, key) else value for key, value in settings.items()}


def uses(config: DictConfig, group: str) -> bool:
    """Whether the cell's retriever uses ``group``: ``chunker``, ``model`` or ``index``.

    This is read off its class; its settings are not looked at.
    """
    return getattr(class_of(config, "retriever"), _DECLARED[group], True) is not False
