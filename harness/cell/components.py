"""The classes that the options of the groups name."""

from __future__ import annotations

from importlib import import_module

from omegaconf import DictConfig, OmegaConf

from harness.errors import SettingError


def class_of(config: DictConfig, group: str) -> type:
    """The class that is the group's ``_target_``. Raises ``SettingError`` when there is none, or its module fails."""
    settings = config[group]
    if not OmegaConf.is_dict(settings) or settings.get("_target_") is None:
        raise SettingError(
            f"{group}._target_ is missing. The option's file must hold settings, one a line, and among them _target_: package.module.Class.",
            key=f"{group}._target_",
        )
    target = str(settings["_target_"])
    module, _, name = target.rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # the module may be a user's own, and fail in any way
        raise SettingError(
            f"{group}._target_ is {target}, which can't be loaded ({type(error).__name__}: {error}). It must be package.module.Class, "
            "importable from here (installed, or in a folder on PYTHONPATH).",
            key=f"{group}._target_",
        ) from error
    if not isinstance(found, type):
        raise SettingError(
            f"{group}._target_ is {target}, which is no class. It must be package.module.Class.",
            key=f"{group}._target_",
        )
    return found
